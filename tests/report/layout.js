// What is wrong with the layout of the page as it is now: a list of sentences. Run by test_browser.py.
const told = (element) => `<${element.tagName.toLowerCase()}> "${element.textContent.trim().slice(0, 40)}"`;
const faults = [];

const width = document.documentElement.clientWidth;
if (document.documentElement.scrollWidth > width) faults.push(`the page is ${document.documentElement.scrollWidth} wide`);

// Every piece of text that can be seen, as the boxes of its lines.
const pieces = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || element.closest("script, style, .skip")) continue;
  if (!element.checkVisibility({ contentVisibilityAuto: true, visibilityProperty: true })) continue;
  const range = document.createRange();
  range.selectNodeContents(walker.currentNode);
  const scroll = element.closest(".scroll");
  for (const box of range.getClientRects()) {
    if (box.width > 1 && box.height > 1) pieces.push({ element, box, scroll });
  }
}

for (const { element, box, scroll } of pieces) {
  if (!scroll && (box.left < -0.5 || box.right > width + 0.5)) faults.push(`${told(element)} leaves the page`);
  for (let parent = element; parent !== document.body && parent !== scroll; parent = parent.parentElement) {
    if (getComputedStyle(parent).overflowX === "visible" || parent instanceof SVGElement) continue;
    const frame = parent.getBoundingClientRect();
    if (box.right > frame.right + 1 || box.left < frame.left - 1) faults.push(`${told(element)} is cut off`);
  }
}

// Lines of text may touch, and letters may rise above their line; more than that is text upon text.
const slack = 3;
const sorted = pieces.sort((one, other) => one.box.top - other.box.top);
sorted.forEach((one, place) => {
  for (let next = place + 1; next < sorted.length && sorted[next].box.top < one.box.bottom - slack; next += 1) {
    const other = sorted[next];
    if (one.element === other.element || one.scroll !== other.scroll) continue;
    const across = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
    const down = Math.min(one.box.bottom, other.box.bottom) - other.box.top;
    if (across > slack && down > slack) faults.push(`${told(one.element)} lies upon ${told(other.element)}`);
  }
});
return faults;
