// The key comes by the form, or in the address behind # (which no server sees), and stays in this tab.
const byId = (id) => document.getElementById(id)
const fromAddress = new URLSearchParams(location.hash.slice(1))
if (fromAddress.has('key')) {
  sessionStorage.setItem('key', fromAddress.get('key'))
  // Only the demo has an inbox; asking other servers for it would be an error in the browser's console.
  if (fromAddress.has('demo')) sessionStorage.setItem('demo', 'yes')
  history.replaceState(null, '', location.pathname)
}
byId('curl').textContent = `curl -H "Authorization: Bearer ak_…" ${location.origin}/v1/issues`

byId('sign-in').addEventListener('submit', (submit) => {
  submit.preventDefault()
  sessionStorage.setItem('key', byId('key').value.trim())
  show()
})

async function get(path) {
  const response = await fetch(path, { headers: { authorization: `Bearer ${sessionStorage.getItem('key')}` } })
  const body = await response.json()
  if (!response.ok) throw new Error(body.error)
  return body
}

const number = (value) => value.toLocaleString()
const time = (at) => new Date(at).toLocaleString()

function row(...cells) {
  const tr = document.createElement('tr')
  for (const cell of cells) tr.insertCell().append(cell)
  return tr
}

/** Counters of the last minute, oldest first. */
const counts = []

/** From how fast the counter grows; null until it was read twice. */
function eventsAMinute(totalEvents) {
  counts.push({ at: Date.now(), totalEvents })
  while (counts.length > 2 && counts.at(-1).at - counts[0].at > 60_000) counts.shift()
  const elapsedMs = counts.at(-1).at - counts[0].at
  return elapsedMs === 0 ? null : Math.round(((totalEvents - counts[0].totalEvents) / elapsedMs) * 60_000)
}

async function showInbox() {
  if (!sessionStorage.getItem('demo')) return
  const response = await fetch('/demo/inbox')
  if (!response.ok) return
  const { messages } = await response.json()
  byId('inbox').hidden = false
  const open = new Set([...document.querySelectorAll('#mails details[open]')].map((box) => box.dataset.id))
  byId('mails').replaceChildren(
    ...messages.map(({ id, at, via, title, text }) => {
      const box = document.createElement('details')
      box.dataset.id = id
      box.open = open.has(id)
      const summary = document.createElement('summary')
      summary.textContent = `${time(at)} · ${via} · ${title}`
      const body = document.createElement('pre')
      body.textContent = text
      box.append(summary, body)
      return box
    }),
  )
}

async function show() {
  if (!sessionStorage.getItem('key')) return
  try {
    const [who, issues, usage, deliveries] = await Promise.all([
      get('/v1/whoami'),
      get('/v1/issues?limit=20'),
      get('/v1/usage'),
      get('/v1/notifications/deliveries?limit=20'),
    ])
    byId('state').textContent = `${who.orgName}, as ${who.role}.`
    byId('sign-in').hidden = true
    byId('board').hidden = false
    const rate = eventsAMinute(usage.totalEvents)
    byId('per-minute').textContent = rate === null ? '–' : number(rate)
    byId('total').textContent = number(usage.totalEvents)
    byId('open').textContent = number(Object.values(issues.openCounts).reduce((sum, count) => sum + count, 0))
    byId('delivered').textContent = number(deliveries.deliveries.filter(({ status }) => status === 'delivered').length)
    byId('issues').replaceChildren(
      ...issues.issues.map((issue) => {
        const line = row(issue.severity, issue.status, issue.title, number(issue.occurrences), time(issue.lastSeenAt))
        line.cells[0].className = issue.severity
        line.cells[2].className = 'wide'
        return line
      }),
    )
    byId('deliveries').replaceChildren(
      ...deliveries.deliveries.map((delivery) =>
        row(time(delivery.createdAt), delivery.channel.type, delivery.transition, delivery.status),
      ),
    )
    await showInbox()
  } catch (error) {
    byId('state').textContent = error.message
    byId('sign-in').hidden = false
  }
}

show()
setInterval(show, 3000)
