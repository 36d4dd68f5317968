import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type TestApp, testApp } from '../test-app.ts'

interface Operation {
  operationId: string
  parameters?: { name?: string; schema?: { enum?: string[] } }[]
  responses: Record<string, { content?: Record<string, { schema: { $ref?: string; description?: string } }> }>
}
const description = await Bun.file('docs/openapi.json').json()
const operations = Object.entries(description.paths as Record<string, Record<string, Operation>>).flatMap(
  ([path, methods]) => (methods.get ? [{ path, ...methods.get }] : []),
)
const hasParameter = ({ parameters = [] }: Operation, name: string) => parameters.some((one) => one.name === name)
const sortsOf = ({ parameters = [] }: Operation) => parameters.find(({ name }) => name === 'sort')?.schema?.enum ?? []

let app: TestApp
let domainId = ''
beforeAll(async () => {
  app = await testApp()
  for (const name of ['delta', 'Alpha', 'beta', 'Gamma', '=1+1']) {
    const { body } = await app.call('POST', '/v1/domains', { body: { name } })
    domainId = body.id
    const severity = name.length > 4 ? 'critical' : 'low'
    const alert = {
      name,
      severity,
      domainId: body.id,
      alertType: 'data_validation',
      conditions: { logic: 'any', items: [{ parameter: 'value', op: 'is_blank' }] },
      period: '1h',
      channels: [{ type: 'email', target: 'owners' }],
    }
    expect((await app.call('POST', '/v1/alerts', { body: alert })).status).toBe(201)
  }
})
afterAll(() => app[Symbol.asyncDispose]())

/** Sends a request with an `Accept` header. */
async function get(path: string, accept = 'application/json') {
  const headers = { authorization: `Bearer ${app.owner.apiKey}`, accept }
  const response = await app.app.fetch(new Request(`http://localhost:8787${path}`, { headers }))
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}

/** Further query fields of routes that require a domain. */
const OF_A_DOMAIN: Record<string, string> = {
  '/v1/insights/reconcile': '',
  '/v1/insights/compare': '&aEnv=prod&bEnv=dev',
  '/v1/compliance/before-consent': '',
}

describe('every list', () => {
  test('can be exported', () => {
    const others = operations.filter(
      (one) => hasParameter(one, 'cursor') && !one.responses['200']?.content?.['text/csv'],
    )
    expect(others.map(({ operationId }) => operationId)).toEqual([])
  })

  // API keys have no sessions.
  const exported = operations.filter(
    ({ path, responses }) =>
      path !== '/v1/auth/sessions' && !path.includes('{') && responses['200']?.content?.['text/csv'],
  )

  test.each(exported.map(({ path, responses }) => [path, responses] as const))(
    '%s has the columns that OpenAPI describes',
    async (path, responses) => {
      const query = OF_A_DOMAIN[path] === undefined ? '' : `?domainId=${domainId}${OF_A_DOMAIN[path]}`
      const csv = await get(path + query, 'text/csv')
      expect([csv.status, csv.type]).toEqual([200, 'text/csv; charset=utf-8; header=present'])
      const columns = responses['200']?.content?.['text/csv']?.schema.description
      expect(csv.text.split('\r\n')[0]).toBe(columns?.replace('Columns: ', '').replaceAll(', ', ',') ?? '')
      const ndjson = await get(path + query, 'application/x-ndjson')
      expect([ndjson.status, ndjson.type]).toEqual([200, 'application/x-ndjson'])
      for (const line of ndjson.text.split('\n').filter(Boolean)) expect(JSON.parse(line)).toBeObject()
    },
  )
})

test('an export has all rows that match the filters, and no formulas', async () => {
  const { text } = await get('/v1/domains?sort=name&limit=1', 'text/csv')
  const [head = '', ...rows] = text.trimEnd().split('\r\n')
  const at = head.split(',').indexOf('name')
  expect(rows.map((row: string) => row.split(',')[at])).toEqual(["'=1+1", 'Alpha', 'beta', 'delta', 'Gamma'])
  const filtered = await get('/v1/alerts?q=alpha', 'application/x-ndjson')
  expect(filtered.text.trimEnd().split('\n').length).toBe(1)
  expect(JSON.parse(filtered.text).name).toBe('Alpha')
})

describe('a sorted list', () => {
  const sorted = operations
    .filter(({ path, ...one }) => !path.includes('{') && sortsOf(one).length > 0)
    .flatMap((one) =>
      sortsOf(one).flatMap((sort): [string, string][] => (sort.startsWith('-') ? [] : [[one.path, sort]])),
    )

  test.each(sorted)('%s by %s is the same in pages, and reversed with a minus', async (path, sort) => {
    const whole = await rowsOf(`${path}?sort=${sort}&limit=200`)
    const reversed = await rowsOf(`${path}?sort=-${sort}&limit=200`)
    expect(reversed).toEqual(whole.toReversed())
    const found: string[] = []
    let cursor: string | null = null
    do {
      const answer = JSON.parse((await get(`${path}?sort=${sort}&limit=2${cursor ? `&cursor=${cursor}` : ''}`)).text)
      found.push(...itemsOf(answer))
      cursor = answer.nextCursor
    } while (cursor !== null)
    expect(found).toEqual(whole)
  })

  test.each([...new Set(sorted.map(([path]) => path))])('%s rejects an unknown field by name', async (path) => {
    const { status, text } = await get(`${path}?sort=nothing`)
    expect([status, text]).toEqual([400, expect.stringContaining('query.sort: must be one of ')])
  })

  const itemsOf = (answer: Record<string, unknown>): string[] =>
    (Object.values(answer).find(Array.isArray) as { id: string }[]).map(({ id }) => id)
  const rowsOf = async (path: string) => {
    const { status, text } = await get(path)
    expect([path, status]).toEqual([path, 200])
    return itemsOf(JSON.parse(text))
  }
})
