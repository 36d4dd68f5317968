import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import type { JsonSchema } from './json-schema.ts'
import { pathOf, type Route } from './openapi-routes.ts'
import { describedApi } from './two-tenants.ts'
import { acceptedCall } from './valid-calls.ts'

/*
 * No request blocks the event loop for long. Each route receives the largest bodies that it accepts while another
 * client polls `/healthz`. The test measures the processor time of this thread between two turns of the event loop,
 * which does not depend on other load. The goal is 50 ms. The limit is higher to allow for slower processors, but low
 * enough to detect a parser that reads 8 MiB in one turn.
 */

const BOUND_MS = 150
const ASK_EVERY_MS = 20
/** The first field is the processor time of this thread in ns: https://docs.kernel.org/scheduler/sched-stats.html */
const CPU_TIME = `/proc/self/task/${process.pid}/schedstat`
const cpuMs = () => Number(readFileSync(CPU_TIME, 'utf8').split(' ')[0]) / 1e6

const { world, routes, tenant } = await describedApi()
afterAll(() => world[Symbol.asyncDispose]())

/** Returns JSON text of the given size in bytes: a list or an object filled with items. */
function filled([open, close]: string, item: (n: number) => string, bytes: number): string {
  const items: string[] = []
  let size = 2
  for (let n = 0; ; n++) {
    const text = item(n)
    size += text.length + 1
    if (size > bytes) return `${open}${items.join()}${close}`
    items.push(text)
  }
}

/** Functions that create bodies that are slow to parse and that no route accepts. */
const SHAPES: Record<string, (bytes: number) => string> = {
  lists: (bytes) => filled('[]', () => '[]', bytes),
  'objects in a list': (bytes) => filled('[]', () => '{"a":1}', bytes),
  fields: (bytes) => filled('{}', (n) => `"k${n}":0`, bytes),
  'a string of escape sequences': (bytes) => `"${'\\"'.repeat(bytes / 2 - 1)}"`,
}

interface Sent {
  method: string
  path: string
  as: string
  body: string
}

/**
 * Sends a request while another client polls. Returns the status of the response and the longest turn of the event loop
 * during the request, in ms of processor time.
 */
async function longestTurn({ method, path, as, body }: Sent): Promise<{ status: number; ms: number }> {
  // The body is sent in chunks, as over the network.
  const bytes = new TextEncoder().encode(body)
  const headers = {
    authorization: `Bearer ${as}`,
    'content-type': 'application/json',
    'content-length': String(bytes.length),
  }
  const request = new Request(`http://localhost:8787${path}`, { method, headers, body: bytes })
  await Bun.sleep(ASK_EVERY_MS)
  let ms = 0
  let turnBegan = cpuMs()
  const turn = setInterval(() => {
    const now = cpuMs()
    ms = Math.max(ms, now - turnBegan)
    turnBegan = now
  }, 4)
  const health: Promise<number>[] = []
  const ask = setInterval(async () => {
    health.push(
      Promise.resolve(world.app.fetch(new Request('http://localhost:8787/healthz'))).then((answer) => answer.status),
    )
  }, ASK_EVERY_MS)
  const sent = path.startsWith('/api/') ? world.app.collector.fetch(request) : world.app.fetch(request)
  const answer = await sent
  await answer.arrayBuffer()
  await Bun.sleep(5)
  clearInterval(turn)
  clearInterval(ask)
  expect(new Set(await Promise.all(health)).difference(new Set([200]))).toEqual(new Set())
  return { status: answer.status, ms }
}

async function expectShortTurns(what: string, sent: Sent, statuses: readonly number[]): Promise<void> {
  const { status, ms } = await longestTurn(sent)
  const isShort = ms < BOUND_MS ? 'short turns' : `a turn of ${Math.round(ms)} ms`
  expect([what, statuses.includes(status) ? 'as expected' : status, isShort]).toEqual([
    what,
    'as expected',
    'short turns',
  ])
}

/**
 * Returns the largest valid value of a schema, up to the given size in bytes. `example` is used where only certain
 * values are valid.
 */
function largest(schema: JsonSchema, example: unknown, bytes: number): unknown {
  if (schema.anyOf) {
    const branches = schema.anyOf.map((one) => largest(one, example, bytes))
    return branches.toSorted((a, b) => sizeOf(b) - sizeOf(a))[0]
  }
  if (schema.enum || schema.const !== undefined || schema.pattern) return example
  if (schema.type === 'string') return 'x'.repeat(Math.min(schema.maxLength ?? bytes, bytes))
  if (schema.type === 'array') {
    const item = (example as unknown[] | undefined)?.[0] ?? largest(schema.items ?? {}, undefined, 100)
    return Array(Math.min(schema.maxItems ?? bytes, Math.floor(bytes / (sizeOf(item) + 1)))).fill(item)
  }
  return example
}
const sizeOf = (value: unknown) => JSON.stringify(value)?.length ?? 0

const withBody = routes.filter(({ body }) => body !== null)
/** Statuses that show that the body was parsed. */
const READ = [200, 201, 202, 400, 401, 404, 406, 409, 422]
/** Routes with a smaller maximum body are not tested. */
const SMALL_BYTES = 20_000

describe.skipIf(!existsSync(CPU_TIME))('processing a large request', () => {
  test.each(withBody.map((route) => [route.name, route] as const))(
    'for %s does not block other callers',
    async (_, route: Route) => {
      const home = tenant()
      const { ids, body } = await acceptedCall(route, { world, tenant: home }, tenant())
      const sent = { method: route.method, path: pathOf(route, ids), as: home.people.owner.session }
      for (const [shape, make] of Object.entries(SHAPES)) {
        // Status 413 is allowed because parsing a HAR file may need more memory than the parsing process is allowed to
        // use.
        await expectShortTurns(shape, { ...sent, body: make(route.maxBodyBytes) }, [...READ, 413])
      }
      for (const [field, schema] of Object.entries(route.body?.properties ?? {})) {
        const value = largest(schema, body?.[field], route.maxBodyBytes - SMALL_BYTES)
        if (sizeOf(value) < SMALL_BYTES) continue
        await expectShortTurns(field, { ...sent, body: JSON.stringify({ ...body, [field]: value }) }, READ)
      }
    },
  )

  test.each(Object.entries(SHAPES))('for MCP with %s does not block other callers', async (shape, make) => {
    const sent = { method: 'POST', path: '/mcp', as: world.owner.apiKey, body: make(8 * 2 ** 20) }
    await expectShortTurns(shape, sent, READ)
  })

  test.each(Object.entries(SHAPES))('for a batch with %s does not block other callers', async (shape, make) => {
    const { body } = await world.call('POST', '/v1/domains', { body: { name: `Collects ${shape}` } })
    const sent = { method: 'POST', path: '/api/v1/events', as: body.token, body: make(2 ** 20) }
    await expectShortTurns(shape, sent, READ)
  })

  /** Returns a rule with the given number of conditions, values per condition, and characters per value. */
  const alertOf = (name: string, op: string, [conditions = 0, values = 0, length = 0]: readonly number[]) => ({
    name,
    alertType: 'data_validation',
    period: '1h',
    channels: [{ type: 'email', target: 'ann@example.com' }],
    conditions: {
      logic: 'any',
      items: Array.from({ length: conditions }, (_, n) => ({
        parameter: `p${n}`,
        op,
        values: Array.from({ length: values }, (_, m) => `${n} ${m} `.padEnd(length, 'x')),
      })),
    },
  })
  const LARGEST = [50, 100, 1000] as const

  test.each(['equals', 'contains', 'starts_with'])(
    'for the largest rule with the operator %s does not block other callers',
    async (op) => {
      const { people } = tenant()
      const sent = { method: 'POST', path: '/v1/alerts', as: people.owner.session }
      await expectShortTurns(op, { ...sent, body: JSON.stringify(alertOf('Large', op, LARGEST)) }, [201])
    },
  )

  test('for the maximum number of alerts does not block other callers', async () => {
    const { people } = tenant()
    const alerts = Array.from({ length: 500 }, (_, n) => alertOf(`Rule ${n}`, 'equals', [16, 10, 90]))
    const sent = { method: 'POST', path: '/v1/alerts/bulk', as: people.owner.session }
    await expectShortTurns('500 alerts', { ...sent, body: JSON.stringify({ alerts }) }, [200])
  })
})
