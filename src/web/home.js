import { byId, element, issueLink, number, onSubmit, row, say, time } from './elements.js'
import { loadIssue } from './issue.js'
import { ask, isSession, isSignedIn, openEntrance, showEntrance } from './sign-in.js'

const REFRESH_MS = 3000
/** Id of the issue in the URL; undefined on the start page. */
const issueId = /^\/issues\/([^/]+)$/.exec(location.pathname)?.[1]
const view = byId(issueId ? 'issue' : 'board')

byId('api').hidden = issueId !== undefined
byId('curl').textContent = `curl -H "Authorization: Bearer ak_…" ${location.origin}/v1/issues`

/** Counters of the last minute, oldest first. */
const counts = []

/** The rate at which the counter grows; 0 until it was read twice. */
function eventsAMinute(totalEvents) {
  counts.push({ at: Date.now(), totalEvents })
  while (counts.length > 2 && counts.at(-1).at - counts[0].at > 60_000) counts.shift()
  const elapsedMs = counts.at(-1).at - counts[0].at
  return elapsedMs === 0 ? 0 : Math.round(((totalEvents - counts[0].totalEvents) / elapsedMs) * 60_000)
}

async function loadBoard() {
  const [issues, usage, deliveries, inbox] = await Promise.all([
    ask('GET', '/v1/issues?limit=20'),
    ask('GET', '/v1/usage'),
    ask('GET', '/v1/notifications/deliveries?limit=20'),
    demoInbox(),
  ])
  return () => {
    const { openCounts } = issues
    byId('per-minute').textContent = number(eventsAMinute(usage.totalEvents))
    byId('total').textContent = number(usage.totalEvents)
    byId('open').textContent = number(Object.values(openCounts).reduce((sum, count) => sum + count, 0))
    byId('delivered').textContent = number(deliveries.deliveries.filter(({ status }) => status === 'delivered').length)
    drawIssues(issues.issues)
    byId('deliveries').replaceChildren(
      ...deliveries.deliveries.map((delivery) =>
        row(time(delivery.createdAt), delivery.channel.type, delivery.transition, delivery.status),
      ),
    )
    drawInbox(inbox)
  }
}

function drawIssues(issues) {
  const list = byId('issues')
  // Replacing a link would lose the user's focus or click.
  if (list.matches(':active')) return
  const focused = list.contains(document.activeElement) ? document.activeElement.id : null
  list.replaceChildren(
    ...issues.map(({ id, severity, status, title, occurrences, lastSeenAt }) => {
      const line = row(severity, status, issueLink(id, title), number(occurrences), time(lastSeenAt))
      line.cells[0].className = severity
      line.cells[2].className = 'wide'
      return line
    }),
  )
  if (focused) byId(focused)?.focus({ preventScroll: true })
}

/** False without a demo; null until it was requested. */
let isDemo = null

/** Messages that the demo delivered, latest first; null without a demo. */
async function demoInbox() {
  if (isDemo === false) return null
  const response = await fetch('/demo/inbox')
  isDemo = response.ok
  return isDemo ? (await response.json()).messages : null
}

function drawInbox(messages) {
  byId('inbox').hidden = messages === null
  const open = new Set([...document.querySelectorAll('#mails details[open]')].map((box) => box.dataset.id))
  byId('mails').replaceChildren(
    ...(messages ?? []).map(({ id, at, via, title, text }) => {
      const box = element('details', element('summary', `${time(at)} · ${via} · ${title}`), element('pre', text))
      box.dataset.id = id
      box.open = open.has(id)
      return box
    }),
  )
}

/** Incremented at each sign-in, sign-out and choice of organization, so that answers for the previous one are not shown. */
let sitting = 0

async function show() {
  const mine = sitting
  showEntrance()
  byId('new-key').hidden = !isSession()
  if (!isSignedIn()) view.hidden = true
  else {
    try {
      const [who, draw] = await Promise.all([ask('GET', '/v1/whoami'), issueId ? loadIssue(issueId) : loadBoard()])
      if (mine !== sitting) return
      say(`${who.orgName}, as ${who.role}.`)
      draw()
      view.hidden = false
    } catch (error) {
      if (mine !== sitting) return
      say(error.message)
      showEntrance()
      view.hidden = true
    }
  }
}

const sayOfKey = (...inside) => byId('made').replaceChildren(...inside)

onSubmit(
  'new-key',
  async (given) => {
    const mine = sitting
    const { secret } = await ask('POST', '/v1/keys', { ...given, expiresInDays: null })
    if (mine !== sitting) return
    sayOfKey(
      element('code', secret),
      element('br'),
      'It is shown this once: copy it now. It works until it is revoked.',
    )
  },
  sayOfKey,
)

await openEntrance(() => {
  sitting += 1
  counts.length = 0
  sayOfKey()
  return show()
})
// An issue costs more to load, and is read for longer.
if (!issueId) setInterval(show, REFRESH_MS)
