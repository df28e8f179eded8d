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

// Makes the children of `parent` say what the nodes `fresh` say.  A child that
// says it already stays, also if others come or go before it: a press may be
// under way there, or text be selected.  It keeps its own listeners, so these
// must look up what they act on when they are called.
export function renew(parent, fresh) {
  let present = parent.firstChild;
  fresh.forEach((wanted, i) => {
    const same = sameFrom(present, wanted);
    if (same) {
      while (present !== same) present = removed(present);
      present = same.nextSibling;
    } else if (!present || staysFor(present, fresh.slice(i + 1))) {
      parent.insertBefore(wanted, present);
    } else {
      const next = present.nextSibling;
      if (holdsOtherThings(present, wanted)) {
        renew(present, [...wanted.childNodes]);
      } else present.replaceWith(wanted);
      present = next;
    }
  });
  while (present) present = removed(present);
}

function removed(node) {
  const next = node.nextSibling;
  node.remove();
  return next;
}

// The first that says the same as `wanted`, of `node` and its later siblings.
function sameFrom(node, wanted) {
  while (node && !node.isEqualNode(wanted)) node = node.nextSibling;
  return node;
}

const staysFor = (node, later) =>
  later.some((wanted) => node.isEqualNode(wanted));

// Whether two elements differ in what they hold alone, and it may change under
// them: a button does something else if it says something else.
function holdsOtherThings(one, other) {
  return one.nodeType === Node.ELEMENT_NODE && one.nodeName !== "BUTTON" &&
         one.cloneNode().isEqualNode(other.cloneNode());
}
