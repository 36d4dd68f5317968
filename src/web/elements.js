export const byId = (id) => document.getElementById(id)

export const number = (value) => value.toLocaleString()

/** `2026-01-05 12:07 UTC` */
export const time = (at) => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** What is inside may be texts, which are never read as HTML, and elements. */
export function element(name, ...inside) {
  const made = document.createElement(name)
  made.append(...inside)
  return made
}

export const row = (...cells) => element('tr', ...cells.map((cell) => element('td', cell)))

export function issueLink(id, title) {
  const link = element('a', title)
  link.id = id
  link.href = `/issues/${encodeURIComponent(id)}`
  return link
}

/** What the page says of itself, in one line at its top. */
export function say(text) {
  byId('state').textContent = text
}

/** Calls `act` with the fields that were filled in; what it fails with is told to the person. */
export function onSubmit(id, act, tell = say) {
  byId(id).addEventListener('submit', async (submit) => {
    submit.preventDefault()
    const button = submit.target.querySelector('button')
    button.disabled = true
    try {
      await act(Object.fromEntries([...new FormData(submit.target)].filter(([, value]) => value !== '')))
      submit.target.reset()
    } catch (error) {
      tell(error.message)
    } finally {
      button.disabled = false
    }
  })
}
