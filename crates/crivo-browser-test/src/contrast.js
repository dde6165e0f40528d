// Every visible text with the contrast of its colour to what is painted behind it.
const parse = (colour) => (colour.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
const over = ([r, g, b, a = 1], below) => [r, g, b].map((c, i) => c * a + below[i] * (1 - a));
const luminance = (colour) => {
  const [r, g, b] = colour.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (element) => {
  if (!element) return [255, 255, 255];
  const colour = parse(getComputedStyle(element).backgroundColor);
  return (colour[3] ?? 1) === 1 ? colour.slice(0, 3) : over(colour, behind(element.parentElement));
};
const faint = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const text = walker.currentNode;
  const element = text.parentElement;
  if (!text.data.trim() || element.closest("script, style, title, desc, .unseen, .skip")) continue;
  const style = getComputedStyle(element);
  if (!element.getClientRects().length || style.visibility === "hidden") continue;
  const ground = behind(element);
  const colour = over(parse(element.closest("svg") ? style.fill : style.color), ground);
  const [light, dark] = [luminance(colour), luminance(ground)].sort((a, b) => b - a);
  const ratio = (light + 0.05) / (dark + 0.05);
  const size = parseFloat(style.fontSize);
  const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
  if (ratio < (large ? 3 : 4.5)) faint.push(`${text.data.trim().slice(0, 40)}: ${ratio.toFixed(2)}`);
}
return faint;
