import type { Clock, Instant } from '../../../core/clock.ts'
import { MINUTE_MS } from '../../../core/clock.ts'
import { type Received, receiver } from '../../../transport/receiver.fixture.ts'

export const EMAIL = 'tags@example.com'
export const API_TOKEN = 'ATATT3xFf-t0ken'
/** The account that owns the token, and the account of another user. */
export const US = { accountId: '712020:us', key: 'JIRAUSER10001', name: 'tagwarden', displayName: 'Tagwarden' }
const ANN = { accountId: '712020:ann', key: 'JIRAUSER10002', name: 'ann', displayName: 'Ann' }

export interface FakeStatus {
  id: string
  name: string
  category: 'new' | 'indeterminate' | 'done' | 'undefined'
}
export interface FakeWay {
  from: string
  to: string
  /** Fields of the transition's screen in Jira's format. */
  fields?: Record<string, { required: boolean; hasDefaultValue?: boolean; schema?: object; allowedValues?: unknown[] }>
  /** Message with which Jira rejects the transition although it is available. */
  refusal?: string
}

/** A workflow with the statuses to do, in progress and done. Each status is one transition away from the next. */
export const PLAIN: { statuses: FakeStatus[]; ways: FakeWay[] } = {
  statuses: [
    { id: '1', name: 'To Do', category: 'new' },
    { id: '3', name: 'In Progress', category: 'indeterminate' },
    { id: '5', name: 'Done', category: 'done' },
  ],
  ways: [
    { from: '1', to: '3' },
    { from: '3', to: '5' },
    { from: '3', to: '1' },
    { from: '5', to: '1' },
  ],
}

interface FakeTicket {
  id: string
  key: string
  fields: Record<string, unknown> & { summary: string; labels: string[] }
  statusId: string
  comments: { id: string; body: unknown }[]
  createdAt: Instant
  updatedAt: Instant
  isDeleted: boolean
  /** Keys that the ticket had before it was moved to another project. They still identify the ticket. */
  formerKeys?: string[]
}

interface TicketBody {
  body?: unknown
  transition?: { id: string }
  fields?: Record<string, unknown>
}

interface SearchBody {
  jql?: string
  maxResults?: number
  startAt?: number
  nextPageToken?: string
}

const problem = (status: number, messages: string[], errors: Record<string, string> = {}) =>
  Response.json({ errorMessages: messages, errors }, { status })
const UNSEEN = 'Issue does not exist or you do not have permission to see it.'
const REMOVED =
  'The requested API has been removed. Please migrate to the /rest/api/3/search/jql API. A full migration guideline is available at https://developer.atlassian.com/changelog/#CHANGE-2046'

/** A fake Jira that uses the test's clock. It stops when disposed. */
export function jiraServer(clock: Clock, edition: 'cloud' | 'dataCenter' | 'before 8.4' = 'cloud', port = 0) {
  const isCloud = edition === 'cloud'
  const root = `/rest/api/${isCloud ? 3 : 2}`
  const tickets: FakeTicket[] = []
  const behaviour = {
    /** Replaces a response before the request takes effect. Null: the normal response is sent. */
    instead: (_request: Received): Response | Promise<Response> | null => null,
    /** Replaces a response after the request took effect. */
    after: (_request: Received, response: Response): Response | Promise<Response> => response,
    searchLagMs: 0,
    pageSize: 100,
    workflow: PLAIN,
    projects: ['OPS', 'WEB'],
    types: ['Task', 'Bug'],
    lacks: [] as string[],
    /** Custom fields of the create screen. */
    fields: {} as Record<string, { name: string; required: boolean; hasDefaultValue?: boolean }>,
    /** Standard fields of the create screen. */
    screen: ['summary', 'issuetype', 'project', 'reporter', 'description', 'labels', 'priority'],
    captcha: false,
  }

  const statusOf = (id: string) => {
    const { name, category } = behaviour.workflow.statuses.find((one) => one.id === id) ?? { name: '', category: 'new' }
    return { id, name, statusCategory: { id: 2, key: category, name: category } }
  }
  const shown = ({ id, key, fields, statusId, updatedAt }: FakeTicket) => ({
    id,
    key,
    self: `${server.url}${root}/issue/${id}`,
    fields: { ...fields, status: statusOf(statusId), updated: new Date(updatedAt).toISOString().replace('Z', '+0000') },
  })

  function isSignedIn({ headers }: Received): boolean {
    const basic = `Basic ${Buffer.from(`${EMAIL}:${API_TOKEN}`).toString('base64')}`
    return headers.authorization === (isCloud ? basic : `Bearer ${API_TOKEN}`)
  }

  function stranger(path: string): Response {
    const headers = { 'x-seraph-loginreason': 'AUTHENTICATED_FAILED' }
    // Cloud treats the request as anonymous and finds nothing.
    if (isCloud && path.startsWith('/search')) return Response.json({ issues: [], isLast: true }, { headers })
    if (isCloud) return new Response('Client must be authenticated to access this resource.', { status: 401, headers })
    return new Response('<html><title>Unauthorized (401)</title></html>', { status: 401, headers })
  }

  async function answer(request: Received): Promise<Response> {
    const other = await behaviour.instead(request)
    if (other) return other
    return behaviour.after(request, handle(request))
  }

  function handle(request: Received): Response {
    const { pathname, searchParams } = new URL(request.path, 'http://jira')
    if (!pathname.startsWith(root))
      return Response.json({ message: `null for uri: ${pathname}`, 'status-code': 404 }, { status: 404 })
    const path = pathname.slice(root.length)
    if (behaviour.captcha) {
      const reason = 'CAPTCHA_CHALLENGE; login-url=https://jira.example/login.jsp'
      return new Response('<html>', { status: 403, headers: { 'x-authentication-denied-reason': reason } })
    }
    if (!isSignedIn(request)) return stranger(path)
    const json = request.body === '' ? {} : JSON.parse(request.body)
    const [, kind = '', name = '', what = '', , id = ''] = path.split('/').map(decodeURIComponent)
    if (kind === 'myself') return Response.json(isCloud ? { accountId: US.accountId } : { key: US.key, name: US.name })
    if (kind === 'mypermissions') return permissions()
    if (kind === 'project') return project(name)
    if (path === '/search/jql') return isCloud ? search(json) : problem(404, [])
    if (path === '/search') return isCloud ? problem(410, [REMOVED]) : search(json)
    if (path === '/issue') return create(json.fields)
    if (kind === 'issue' && name === 'createmeta') return createMeta(what, id, searchParams)
    if (kind === 'issue') return ticket(request, name, what, json)
    return problem(404, ['null for uri'])
  }

  function permissions(): Response {
    const names = ['BROWSE_PROJECTS', 'CREATE_ISSUES', 'ADD_COMMENTS', 'TRANSITION_ISSUES']
    const entries = names.map((key) => [key, { key, havePermission: !behaviour.lacks.includes(key) }])
    return Response.json({ permissions: Object.fromEntries(entries) })
  }

  function project(key: string): Response {
    if (!behaviour.projects.includes(key)) return problem(404, [`No project could be found with key '${key}'.`])
    return Response.json({ id: '10000', key, name: key, issueTypes: behaviour.types.map((name) => ({ name })) })
  }

  const screenFields = () => [
    ...behaviour.screen.map((fieldId) => ({
      fieldId,
      key: fieldId,
      name: fieldId,
      required: ['summary', 'issuetype', 'project', 'reporter'].includes(fieldId),
      hasDefaultValue: false,
    })),
    ...Object.entries(behaviour.fields).map(([fieldId, field]) => ({ fieldId, key: fieldId, ...field })),
  ]

  function createMeta(of: string, typeId: string, query: URLSearchParams): Response {
    const startAt = Number(query.get('startAt') ?? 0)
    const types = behaviour.types.map((name, index) => ({ id: String(10_001 + index), name, subtask: false }))
    if (edition === 'before 8.4') {
      if (of !== '') return Response.json({ message: 'null for uri', 'status-code': 404 }, { status: 404 })
      const fields = Object.fromEntries(screenFields().map(({ fieldId, ...field }) => [fieldId, field]))
      const issuetypes = types.map((type) => ({ ...type, fields }))
      return Response.json({ projects: [{ key: query.get('projectKeys'), issuetypes }] })
    }
    if (of === '') return problem(404, ['Issue Does Not Exist'])
    const all: unknown[] = typeId === '' ? types : screenFields()
    const page = all.slice(startAt, startAt + Math.min(behaviour.pageSize, Number(query.get('maxResults'))))
    const list = isCloud ? (typeId === '' ? 'issueTypes' : 'fields') : 'values'
    const end = isCloud ? {} : { isLast: startAt + page.length >= all.length }
    return Response.json({ startAt, maxResults: page.length, total: all.length, ...end, [list]: page })
  }

  function create(
    fields: FakeTicket['fields'] & { project?: { key: string }; issuetype?: { name: string } },
  ): Response {
    const key = fields.project?.key ?? ''
    const errors: Record<string, string> = {}
    const known = screenFields()
    if (!behaviour.projects.includes(key)) errors.project = 'valid project is required'
    if (!behaviour.types.includes(fields.issuetype?.name ?? '')) errors.issuetype = 'Specify a valid issue type'
    if (/\n/.test(fields.summary)) errors.summary = 'The summary is invalid because it contains newline characters.'
    if (fields.summary.length > 255) errors.summary = 'Summary must be less than 255 characters.'
    if (isCloud !== (typeof fields.description === 'object')) {
      errors.description = isCloud
        ? 'Operation value must be an Atlassian Document (see the Atlassian Document Format)'
        : 'Operation value must be a string'
    }
    if (JSON.stringify(fields.description).length > 60_000) errors.description = 'The entered text is too long.'
    for (const label of fields.labels)
      if (/\s/.test(label)) errors.labels = `The label '${label}' contains spaces which is invalid.`
    for (const name of Object.keys(fields)) {
      if (known.some(({ fieldId }) => fieldId === name)) continue
      errors[name] = `Field '${name}' cannot be set. It is not on the appropriate screen, or unknown.`
    }
    for (const { fieldId, name, required, hasDefaultValue } of known) {
      if (required && !hasDefaultValue && fieldId !== 'reporter' && fields[fieldId] === undefined)
        errors[fieldId] = `${name} is required.`
    }
    if (Object.keys(errors).length > 0) return problem(400, [], errors)
    const made = make(key, fields)
    return Response.json({ id: made.id, key: made.key, self: `${server.url}${root}/issue/${made.id}` }, { status: 201 })
  }

  /** Creates a ticket as a user would. */
  function make(project: string, fields: FakeTicket['fields']): FakeTicket {
    const number = tickets.filter(({ key }) => key.startsWith(`${project}-`)).length + 1
    const made: FakeTicket = {
      id: String(10_000 + tickets.length),
      key: `${project}-${number}`,
      fields,
      comments: [],
      isDeleted: false,
      statusId: behaviour.workflow.statuses[0]?.id ?? '',
      createdAt: clock.now(),
      updatedAt: clock.now(),
    }
    tickets.push(made)
    return made
  }

  const find = (name: string) =>
    tickets.find(({ id, key, isDeleted, formerKeys = [] }) => !isDeleted && [id, key, ...formerKeys].includes(name))

  function ticket({ method }: Received, name: string, what: string, json: TicketBody): Response {
    const known = find(name)
    if (!known) return problem(404, [UNSEEN])
    if (what === '') return Response.json(shown(known))
    if (what === 'comment' && method === 'GET') return Response.json({ comments: known.comments.toReversed() })
    if (what === 'comment') {
      known.comments.push({ id: String(known.comments.length), body: json.body })
      known.updatedAt = clock.now()
      return Response.json(known.comments.at(-1), { status: 201 })
    }
    if (method === 'GET') return Response.json({ expand: 'transitions', transitions: waysFrom(known) })
    return take(known, json)
  }

  const waysFrom = ({ statusId }: FakeTicket) =>
    behaviour.workflow.ways.flatMap(({ from, to, fields = {} }, index) =>
      from === statusId ? [{ id: String(index), name: `to ${to}`, to: statusOf(to), fields }] : [],
    )

  function take(
    known: FakeTicket,
    { transition, fields = {} }: { transition?: { id: string }; fields?: Record<string, unknown> },
  ): Response {
    const way = behaviour.workflow.ways[Number(transition?.id)]
    if (way?.from !== known.statusId)
      return problem(400, [`Transition id '${transition?.id}' is not valid for this issue.`])
    if (way.refusal) return problem(400, [way.refusal])
    for (const [name, { required, hasDefaultValue }] of Object.entries(way.fields ?? {})) {
      if (required && !hasDefaultValue && fields[name] === undefined)
        return problem(400, [], { [name]: `${name} is required.` })
    }
    const unknown = Object.keys(fields).find((name) => !(name in (way.fields ?? {})))
    if (unknown)
      return problem(400, [], {
        [unknown]: `Field '${unknown}' cannot be set. It is not on the appropriate screen, or unknown.`,
      })
    Object.assign(known.fields, fields)
    known.statusId = way.to
    known.updatedAt = clock.now()
    return new Response(null, { status: 204 })
  }

  function search({ jql, maxResults = 50, startAt = 0, nextPageToken = '0' }: SearchBody): Response {
    const query = String(jql)
    const textOf = (pattern: RegExp) => pattern.exec(query)?.[1]
    const keys = /key in \(([^)]*)\)/.exec(query)?.[1]?.match(/[\w-]+/g) ?? null
    const gone = keys?.find((key) => !find(key))
    if (gone) return problem(400, [`An issue with key '${gone}' does not exist for field 'key'.`])
    const minutes = textOf(/updated >= -(\d+)m/)
    const label = textOf(/labels = "([^"]+)"/)
    const from = textOf(/project = "([^"]+)"/)
    const fitting = tickets.filter(
      (one) =>
        !one.isDeleted &&
        one.createdAt <= clock.now() - behaviour.searchLagMs &&
        (!keys || keys.some((key) => find(key) === one)) &&
        (label === undefined || one.fields.labels.includes(label)) &&
        (from === undefined || one.key.startsWith(`${from}-`)) &&
        (minutes === undefined || one.updatedAt >= clock.now() - Number(minutes) * MINUTE_MS),
    )
    const begin = isCloud ? Number(nextPageToken) : startAt
    const issues = fitting.slice(begin, begin + Math.min(behaviour.pageSize, maxResults)).map(shown)
    const end = begin + issues.length
    const isLast = end >= fitting.length
    if (isCloud) return Response.json({ issues, ...(isLast ? { isLast } : { isLast, nextPageToken: String(end) }) })
    return Response.json({ startAt: begin, maxResults: issues.length, total: fitting.length, issues })
  }

  /** The webhook body sent when a user changes a ticket's status. */
  function moved(key: string, statusId: string, user: object = ANN) {
    const known = find(key)
    if (!known) throw new Error(`there is no ${key}`)
    const from = statusOf(known.statusId)
    known.statusId = statusId
    known.updatedAt = clock.now()
    const items = [
      { field: 'status', from: from.id, fromString: from.name, to: statusId, toString: statusOf(statusId).name },
    ]
    return {
      timestamp: clock.now(),
      webhookEvent: 'jira:issue_updated',
      user,
      issue: shown(known),
      changelog: { id: '1', items },
    }
  }

  const server = receiver(answer, '127.0.0.1', port)
  return { ...server, tickets, behaviour, make, moved, isCloud }
}
