export const byId = (id) => document.getElementById(id)

export const number = (value) => value.toLocaleString()

/** `2026-01-05 12:07 UTC` */
export const time = (at) => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** Makes an element. Children are elements, or texts, which are never parsed as HTML. */
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

/** Shows a message in the line at the top of the page. */
export function say(text) {
  byId('state').textContent = text
}

/** Calls `act` with the non-empty fields; shows the message when it fails. */
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
