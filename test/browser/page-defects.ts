/** Runs in the page. Lists text with a contrast below 4.5, and boxes that extend beyond the window. */
export const FAULTS = `(() => {
  const numbers = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number)
  const light = ([r, g, b]) => {
    const part = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4)
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b)
  }
  const behind = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const color = numbers(getComputedStyle(one).backgroundColor)
      if (color.length === 3 || color[3] > 0) return color
    }
    return [255, 255, 255]
  }
  const faults = []
  for (const element of document.body.querySelectorAll('*')) {
    const box = element.getBoundingClientRect()
    if (box.width === 0 || box.height === 0) continue
    if (box.right > innerWidth + 0.5 || box.left < -0.5) faults.push('outside the window: ' + element.outerHTML.slice(0, 120))
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')
    if (!own) continue
    const [one, other] = [light(numbers(getComputedStyle(element).color)), light(behind(element))]
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)
    if (contrast < 4.5) faults.push(contrast.toFixed(2) + ': ' + element.textContent.slice(0, 60))
  }
  if (document.documentElement.scrollWidth > innerWidth) faults.push('scrolls to ' + document.documentElement.scrollWidth)
  return faults
})()`
