// Making HTML without writing it as text: what nodes are called comes from
// files that anybody may have made.

export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

export function button(text, action, attributes = {}) {
  return make("button", {type: "button", onclick: action, ...attributes}, text);
}

// Of a <dl>.
export function row(name, value) {
  return make("div", {}, make("dt", {}, name), make("dd", {}, value));
}

// Changes nothing that is the same already: screen readers would say it again.
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
