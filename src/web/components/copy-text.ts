/** Copies text to the clipboard. */
export async function copyText(text: string): Promise<void> {
  // Pages on plain HTTP have no clipboard API, and a browser may refuse it, as it requires a permission.
  if (navigator.clipboard) await navigator.clipboard.writeText(text).catch(() => copyField(text))
  else copyField(text)
}

/** Copies with a hidden field. */
function copyField(text: string): void {
  const opener = document.activeElement
  const field = document.createElement('textarea')
  field.value = text
  field.setAttribute('aria-hidden', 'true')
  field.style.position = 'fixed'
  field.style.opacity = '0'
  // Inside an open dialog, because its focus trap would take the focus back.
  const place = opener?.closest('[role=dialog]') ?? document.body
  place.append(field)
  field.select()
  document.execCommand('copy')
  field.remove()
  if (opener instanceof HTMLElement) opener.focus()
}
