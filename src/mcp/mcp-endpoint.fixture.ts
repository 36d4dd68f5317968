import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { type Cast, cast, memoryDb, type TestClock, testBox, testClock } from '../../test/fixtures.ts'
import { alertRoutes } from '../alerts/alert-routes.ts'
import { createAlert } from '../alerts/alert-store.ts'
import { AppError } from '../core/error.ts'
import { Closed, Int, Type } from '../core/schema.ts'
import { noteAddress } from '../http/client-info.ts'
import { performer } from '../http/perform-call.ts'
import { ById, OK, OkSchema, type Route, route } from '../http/route.ts'
import type { Authenticate } from '../http/router.ts'
import { evaluationOf, findingOf, volumeAlert } from '../issues/issue.fixture.ts'
import { issueRoutes } from '../issues/routes.ts'
import { applyFindings } from '../issues/store.ts'
import { authenticator } from '../org/authenticate.ts'
import type { Db } from '../store/database.ts'
import { type McpDeps, mcpEndpoint } from './mcp-endpoint.ts'

export const VERSION = '9.8.7'
export const PUBLIC_URL = 'https://tags.example'

/** The SDK's own client, already connected. It is closed at the end of its block. */
export type Connected = Client & AsyncDisposable

/** Connects the SDK's own client to the server at this URL. */
export async function connect(url: string, key: string, headers: Record<string, string> = {}): Promise<Connected> {
  const client = new Client({ name: 'test', version: '1' })
  const requestInit = { headers: { authorization: `Bearer ${key}`, ...headers } }
  // The SDK's types are not compatible with `exactOptionalPropertyTypes`.
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit }) as Parameters<Client['connect']>[0]
  await client.connect(transport)
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() })
}

/** Calls a tool and returns its value or the error message. */
export async function callTool(client: Client, name: string, args: Record<string, unknown> = {}) {
  const result = await client.callTool({ name, arguments: args })
  const texts = (result.content as { type: string; text: string }[]).map(({ text }) => text)
  return {
    refusal: result.isError ? texts.join('\n') : null,
    // biome-ignore lint/suspicious/noExplicitAny: a test names the fields it expects
    value: result.structuredContent as any,
    texts,
  }
}

/** Returns all rows of all tables. */
export function everyRow(db: Db): Record<string, unknown[]> {
  const tables = db
    .prepare<[], { name: string }>(`SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`)
    .all()
  return Object.fromEntries(tables.map(({ name }) => [name, db.prepare(`SELECT * FROM "${name}"`).all()]))
}

/**
 * Routes with features that no other route combines: fields in all three parts of a call, an audited change, responses
 * that fail.
 */
export function oddRoutes(db: Db): Route[] {
  const tag = 'Odd'
  const read = { method: 'GET', access: 'read', tag, tool: true } as const
  return [
    route({
      id: 'renameThing',
      method: 'PUT',
      path: '/v1/things/{id}',
      access: 'configure',
      tag,
      summary: 'Rename a thing',
      description: 'By its id.',
      tool: true,
      params: ById,
      query: Closed({ times: Type.Optional(Int({ minimum: 1, maximum: 3 })) }),
      body: Closed({ name: Type.String({ maxLength: 20 }) }),
      answer: Closed({ id: Type.String(), name: Type.String(), from: Type.Unknown() }),
      handle({ params: { id }, query: { times = 1 }, body: { name }, origin }) {
        if (id === 'taken') throw new AppError('conflict', 'name: is taken')
        db.prepare('INSERT OR REPLACE INTO thing VALUES (?, ?)').run(id, name.repeat(times))
        return { id, name: name.repeat(times), from: origin }
      },
    }),
    route({
      id: 'deleteThing',
      method: 'DELETE',
      path: '/v1/things/{id}',
      access: 'edit',
      tag,
      summary: 'Delete a thing',
      tool: true,
      params: ById,
      answer: OkSchema,
      handle({ params: { id } }) {
        db.prepare('DELETE FROM thing WHERE id = ?').run(id)
        return OK
      },
    }),
    route({
      ...read,
      id: 'breakThing',
      path: '/v1/broken',
      summary: 'Break',
      answer: OkSchema,
      handle: () => JSON.parse('/home/someone/secret'),
    }),
    route({
      ...read,
      id: 'askSlowly',
      path: '/v1/slow',
      summary: 'Respond slowly',
      answer: OkSchema,
      handle: async () => await Promise.resolve(OK),
    }),
    route({
      ...read,
      id: 'fillDisk',
      path: '/v1/full',
      summary: 'Find the disk full',
      answer: OkSchema,
      handle() {
        throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_FULL' })
      },
    }),
    route({
      ...read,
      id: 'hideThing',
      path: '/v1/hidden',
      summary: 'Not for assistants',
      tool: false,
      answer: OkSchema,
      handle: () => OK,
    }),
  ]
}

const AUDIT = `INSERT INTO auditEntry (orgId, at, act, address, note) VALUES (?, ?, ?, ?, '{}')`

export interface McpServer extends Disposable {
  url: string
  db: Db
  clock: TestClock
  people: Cast
  /** Reported errors with their locations. A test that expects errors clears the list. */
  bugs: [unknown, string][]
  /** Returns the number of requests counted towards the rate limit. */
  counted: () => number
  /** Creates an alert with this name and returns its id. */
  addAlert(name: string): string
  /** Creates an issue for an alert with this name, later than the previous issue. */
  addIssue(name: string): void
}

/** Creates the endpoint without a server, with a separate database. */
export function mcpOf(parts: Pick<McpDeps, 'authenticate'>, db = memoryDb(), clock = testClock()) {
  const rooms = {
    db,
    clock,
    box: testBox,
    enqueue() {},
    checkChannels() {},
    changed() {},
    deleted() {},
    openIssues: () => ({}),
    issueStates: () => ({}),
    isLearning: () => false,
    lateShareOf: () => null,
  }
  const bugs: [unknown, string][] = []
  const answer = mcpEndpoint({
    routes: [...alertRoutes(rooms), ...issueRoutes(rooms), ...oddRoutes(db)],
    perform: performer({
      db,
      audit: ({ route: { id }, call: { principal, origin } }) =>
        db.prepare(AUDIT).run(principal?.orgId, clock.now(), id, origin.address),
    }),
    version: VERSION,
    publicUrl: `${PUBLIC_URL}/`,
    report: (error, where) => bugs.push([error, where]),
    ...parts,
  })
  return Object.assign(answer, { bugs })
}

/** Starts a server for the endpoint, with the routes for alerts and issues and `oddRoutes`. */
export function startMcp(): McpServer {
  const db = memoryDb()
  const clock = testClock()
  const people = cast(db, clock)
  db.exec('CREATE TABLE thing (id TEXT PRIMARY KEY, name TEXT NOT NULL) STRICT')
  const known = authenticator({ db, clock })
  let counted = 0
  const authenticate: Authenticate = (headers, options) => {
    if (!options?.again) counted++
    return known(headers, options)
  }
  const answer = mcpOf({ authenticate }, db, clock)
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    maxRequestBodySize: 64 * 1024 * 1024,
    fetch(request) {
      noteAddress(request, '192.0.2.7')
      return answer(request)
    },
  })
  const { orgId } = people
  return {
    url: `http://127.0.0.1:${server.port}/mcp`,
    db,
    clock,
    people,
    bugs: answer.bugs,
    counted: () => counted,
    addAlert(name) {
      clock.advance(1)
      const { id } = createAlert(db, clock, orgId, {
        name,
        alertType: 'volume_threshold',
        volume: { op: 'lte', count: 0 },
        period: '1h',
        channels: [{ type: 'email', target: 'ops@example.com' }],
      })
      return id
    },
    addIssue(name) {
      clock.advance(1)
      const at = clock.now()
      const alert = { ...volumeAlert, orgId, name, id: `alr_${name}` }
      const findings = [findingOf({ domainId: null, firstAt: at, lastAt: at })]
      applyFindings(db, evaluationOf({ alert, findings }), () => {})
    },
    [Symbol.dispose]() {
      void server.stop(true)
      db.close()
    },
  }
}
