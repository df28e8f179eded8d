{{- define "ibemu.head" -}}
{{ .Release.Name }}-head
{{- end }}

{{- define "ibemu.hosts" -}}
{{ .Release.Name }}-hosts
{{- end }}

{{- /* By which programs of a node name the subnet: releases of other namespaces
       may be there, too. */ -}}
{{- define "ibemu.fabric" -}}
{{ .Release.Namespace }}-{{ .Release.Name }}
{{- end }}

{{- define "ibemu.topology" -}}
{{ .Release.Name }}-topology
{{- end }}

{{- define "ibemu.headSecret" -}}
{{ .Values.certificates.head | default (include "ibemu.head" .) }}
{{- end }}

{{- define "ibemu.hostsSecret" -}}
{{ .Values.certificates.hosts | default (include "ibemu.hosts" .) }}
{{- end }}

{{- /* What selects the pods of one component: (list . "head"). */ -}}
{{- define "ibemu.selector" -}}
app.kubernetes.io/name: ibemu
app.kubernetes.io/instance: {{ (index . 0).Release.Name | quote }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "ibemu.labels" -}}
{{ include "ibemu.selector" . }}
app.kubernetes.io/managed-by: {{ (index . 0).Release.Service }}
app.kubernetes.io/version: {{ (index . 0).Chart.AppVersion }}
helm.sh/chart: {{ (index . 0).Chart.Name }}-{{ (index . 0).Chart.Version }}
{{- end }}

{{- /* Where the pods of one component may run: its values. */ -}}
{{- define "ibemu.placement" -}}
{{- with .nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}
