import { ask, isDemo, isSignedIn, openEntrance, showEntrance } from './sign-in.js'

const byId = (id) => document.getElementById(id)
byId('curl').textContent = `curl -H "Authorization: Bearer ak_…" ${location.origin}/v1/issues`

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
  if (!isDemo()) return
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
  showEntrance()
  byId('board').hidden = !isSignedIn()
  if (!isSignedIn()) return
  try {
    const [who, issues, usage, deliveries] = await Promise.all([
      ask('GET', '/v1/whoami'),
      ask('GET', '/v1/issues?limit=20'),
      ask('GET', '/v1/usage'),
      ask('GET', '/v1/notifications/deliveries?limit=20'),
    ])
    byId('state').textContent = `${who.orgName}, as ${who.role}.`
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
    showEntrance()
    byId('board').hidden = true
  }
}

await openEntrance(show)
setInterval(show, 3000)
