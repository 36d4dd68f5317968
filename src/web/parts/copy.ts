/** Puts a text into the clipboard. Pages of plain http have no clipboard API: there a hidden field is copied. */
export async function copy(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const opener = document.activeElement
  const field = document.createElement('textarea')
  field.value = text
  field.setAttribute('aria-hidden', 'true')
  field.style.position = 'fixed'
  field.style.opacity = '0'
  // Inside an open dialog: what holds the focus there would take it back.
  const place = opener?.closest('[role=dialog]') ?? document.body
  place.append(field)
  field.select()
  document.execCommand('copy')
  field.remove()
  if (opener instanceof HTMLElement) opener.focus()
}
