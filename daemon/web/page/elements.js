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

// Makes `parent` hold what `fresh` are.  What says the same stays the same
// element: a press may be under way there, or text be selected.  An element
// that stays keeps what it does, so that may not depend on when it was made.
export function renew(parent, fresh) {
  const old = [...parent.childNodes];
  for (const surplus of old.slice(fresh.length)) surplus.remove();
  fresh.forEach((wanted, i) => {
    const present = old[i];
    if (!present) parent.append(wanted);
    else if (present.isEqualNode(wanted)) return;
    else if (isOnlyHolder(present) &&
             present.cloneNode().isEqualNode(wanted.cloneNode())) {
      renew(present, [...wanted.childNodes]);
    } else present.replaceWith(wanted);
  });
}

// Whether what an element holds may change under it: a button does something
// else if it says something else.
function isOnlyHolder(node) {
  return node.nodeType === Node.ELEMENT_NODE && node.nodeName !== "BUTTON";
}
