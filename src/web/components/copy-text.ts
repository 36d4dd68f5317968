/** Copies text to the clipboard. */
export async function copyText(text: string): Promise<void> {
  // The clipboard API is missing over plain HTTP, and browsers may deny permission to use it.
  if (navigator.clipboard) await navigator.clipboard.writeText(text).catch(() => copyField(text))
  else copyField(text)
}

/** Copies text through a hidden field. */
function copyField(text: string): void {
  const opener = document.activeElement
  const field = document.createElement('textarea')
  field.value = text
  field.setAttribute('aria-hidden', 'true')
  field.style.position = 'fixed'
  field.style.opacity = '0'
  // Added inside the open dialog, because the focus trap of the dialog would otherwise move the focus back.
  const place = opener?.closest('[role=dialog]') ?? document.body
  place.append(field)
  field.select()
  document.execCommand('copy')
  field.remove()
  if (opener instanceof HTMLElement) opener.focus()
}
