import { byId, element, issueLink, number, row, time } from './elements.js'
import { ask, askPicture } from './sign-in.js'

/** Fields that describe an event, with a dollar sign as in conditions. */
const FIELDS = ['vendor', 'event', 'account', 'env', 'host', 'path', 'title', 'status', 'sessionId', 'customerId']

/** Loads the issue, and returns a function that shows it. Fails with a sentence, also when there is none. */
export async function loadIssue(id) {
  const evidence = await ask('GET', `/v1/issues/${id}/evidence`).catch((error) => {
    throw error.status === 404 ? new Error('There is no such issue in this organization.') : error
  })
  return () => draw(evidence)
}

function draw({ issue, alert, summary, explainedBy, events, badSample, goodSample, run }) {
  document.title = `${issue.title} – Tagwarden`
  byId('issue-title').textContent = issue.title
  byId('issue-summary').textContent = summary
  // The compared values of an evaluation are only in the history.
  const fired = issue.history.findLast(({ payload }) => typeof payload?.observed === 'number')?.payload
  const bad = events.length === 0 && badSample ? [badSample] : events
  const facts = {
    Severity: issue.severity,
    Status: issue.status,
    Domain: issue.domain,
    Vendor: namesOf(bad, 'vendor') || alert?.vendors?.join(', '),
    Event: namesOf(bad, 'event'),
    Since: time(issue.firstSeenAt),
    'Last seen': time(issue.lastSeenAt),
    Occurrences: number(issue.occurrences),
    Observed: fired && number(fired.observed),
    Expected: typeof fired?.expected === 'number' ? number(fired.expected) : null,
    Hosts: issue.hosts?.join(', '),
    Notes: issue.notes,
    'Explained by': explainedBy && issueLink(explainedBy.issueId, explainedBy.title),
  }
  const known = Object.entries(facts).filter(([, value]) => value)
  byId('issue-facts').replaceChildren(
    ...known.map(([name, value]) => element('div', element('dt', name), element('dd', value))),
  )
  drawRun(run)
  drawSamples({ Bad: parametersOf(badSample), Good: parametersOf(goodSample) })
  byId('issue-history').replaceChildren(
    ...issue.history.map(({ createdAt, kind, payload }) =>
      row(time(createdAt), kind.replaceAll('_', ' '), wide(words(payload))),
    ),
  )
}

/** Shows the steps of the run, and the picture of the last step that has one. */
function drawRun(run) {
  byId('issue-run').hidden = run === null || run.steps.length === 0
  if (run === null) return
  byId('issue-headline').textContent = run.headline ?? ''
  const sentIn = (step) => run.sent.filter((one) => one.step === step).map(({ vendor, event }) => `${vendor} ${event}`)
  byId('issue-steps').replaceChildren(
    ...run.steps.map(({ title, status, error }, index) => row(title, status, error ?? '', sentIn(index).join(', '))),
  )
  byId('issue-picture').replaceChildren()
  const pictured = run.steps.findLast(({ screenshot }) => screenshot !== null)
  if (pictured) void showPicture(pictured)
}

async function showPicture({ title, screenshot }) {
  const source = await askPicture(screenshot)
  if (source === null) return
  const picture = element('img')
  Object.assign(picture, { src: source, alt: `What the browser showed after: ${title}` })
  byId('issue-picture').replaceChildren(picture)
}

const namesOf = (events, field) => [...new Set(events.map((event) => event[field]))].join(', ')

/** Returns the list without missing values. */
function parametersOf(event) {
  if (event === null) return new Map()
  const fields = FIELDS.map((name) => [`$${name}`, event[name]])
  const all = [['received', time(event.receivedAt)], ...fields, ...Object.entries(event.params)]
  return new Map(all.filter(([, value]) => value !== null))
}

/** Makes a table with one column for each event. */
function drawSamples(samples) {
  const columns = Object.entries(samples).filter(([, parameters]) => parameters.size > 0)
  const names = new Set(columns.flatMap(([, parameters]) => [...parameters.keys()]))
  byId('issue-events').hidden = columns.length === 0
  byId('issue-columns').replaceChildren(
    ...['Parameter', ...columns.map(([title]) => title)].map((title) => element('th', title)),
  )
  byId('issue-samples').replaceChildren(
    ...[...names].map((name) => row(name, ...columns.map(([, parameters]) => wide(parameters.get(name) ?? '–')))),
  )
}

function wide(text) {
  const made = element('div', text)
  made.className = 'wide'
  return made
}

/** Returns `by usr_1 · from open`, without the fields that are shown in sentences of their own. */
function words(payload) {
  if (payload === null) return ''
  const { summary, text, reason, channel, transition, deliveryId, ...rest } = payload
  return (
    summary ??
    text ??
    [channel && `${channel.type} ${channel.target}`, transition, reason, ...namedWords(rest)]
      .filter(Boolean)
      .join(' · ')
  )
}

const namedWords = (values) =>
  Object.entries(values)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`)
