// Renders a chart as `helm template` does, for Debian has no Helm: by the same
// template engine, Go's, with the same functions, Sprig's, and of Helm's own those
// that our chart uses.
//
//	render_chart CHART <INPUT >MANIFESTS
//
// INPUT is a YAML mapping: "release", the name of the release; "values", which
// go before those of the chart; "existing", the objects of the cluster that
// lookup() finds.
package main

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"sigs.k8s.io/yaml"
)

type mapping = map[string]interface{}

const namespace = "default"

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func read(path string, into interface{}) {
	text, err := os.ReadFile(path)
	check(err)
	check(yaml.UnmarshalStrict(text, into))
}

// merge has the values of the second go before the first's, as Helm does it.
func merge(base, over mapping) mapping {
	for name, value := range over {
		inner, isMapping := value.(mapping)
		outer, wasMapping := base[name].(mapping)
		if isMapping && wasMapping {
			base[name] = merge(outer, inner)
		} else {
			base[name] = value
		}
	}
	return base
}

func functions(all *template.Template, existing []mapping) template.FuncMap {
	known := sprig.TxtFuncMap()
	known["toYaml"] = func(value interface{}) string {
		text, err := yaml.Marshal(value)
		check(err)
		return strings.TrimSuffix(string(text), "\n")
	}
	known["include"] = func(name string, data interface{}) (string, error) {
		var text bytes.Buffer
		err := all.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	known["lookup"] = func(version, kind, where, name string) mapping {
		for _, object := range existing {
			if object["apiVersion"] == version && object["kind"] == kind &&
				where == namespace &&
				object["metadata"].(mapping)["name"] == name {
				return object
			}
		}
		return mapping{}
	}
	return known
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("render_chart: ")
	if len(os.Args) != 2 {
		log.Fatal("usage: render_chart CHART <INPUT >MANIFESTS")
	}
	chart := os.Args[1]
	var input struct {
		Release  string    `json:"release"`
		Values   mapping   `json:"values"`
		Existing []mapping `json:"existing"`
	}
	text, err := io.ReadAll(os.Stdin)
	check(err)
	check(yaml.UnmarshalStrict(text, &input))
	var about struct {
		Name       string
		Version    string
		AppVersion string
	}
	described := mapping{}
	read(filepath.Join(chart, "Chart.yaml"), &described)
	about.Name = described["name"].(string)
	about.Version = described["version"].(string)
	about.AppVersion = described["appVersion"].(string)
	values := mapping{}
	read(filepath.Join(chart, "values.yaml"), &values)

	all := template.New("chart").Option("missingkey=zero")
	all.Funcs(functions(all, input.Existing))
	paths, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	check(err)
	sort.Strings(paths)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		check(err)
		_, err = all.New(filepath.Base(path)).Parse(string(text))
		check(err)
	}
	data := mapping{
		"Chart":  about,
		"Values": merge(values, input.Values),
		"Release": mapping{"Name": input.Release, "Namespace": namespace,
			"Service": "Helm"},
	}
	for _, path := range paths {
		name := filepath.Base(path)
		if strings.HasPrefix(name, "_") || !strings.HasSuffix(name, ".yaml") {
			// What NOTES.txt says is for the reader, but it must be sayable.
			check(all.ExecuteTemplate(io.Discard, name, data))
			continue
		}
		fmt.Printf("---\n# Source: %s\n", name)
		check(all.ExecuteTemplate(os.Stdout, name, data))
	}
}
