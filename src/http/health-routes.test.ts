import { expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { memoryDb, TEST_START } from '../../test/fixtures.ts'
import { answerErrors } from './error-responses.ts'
import { type HealthDeps, healthRoutes, type ReadinessCheck } from './health-routes.ts'
import { performer } from './perform-call.ts'
import { router } from './router.ts'

const GOOD: ReadinessCheck = { name: 'disk', check: () => ({ ok: true, message: '3 GiB free' }) }

function ask(path: string, parts: Partial<HealthDeps> = {}): Promise<Response> {
  const routes = healthRoutes({
    lastFlushAt: () => null,
    lastEvaluationAt: () => TEST_START - 1500,
    damagedFiles: () => Array.from({ length: 101 }, (_, n) => `${n}.parquet`),
    failingMerges: () => 2,
    checks: () => [GOOD],
    now: () => TEST_START,
    metrics: async () => [],
    ...parts,
  })
  const health = router(routes, {
    authenticate: () => {
      throw new Error('no credential is required')
    },
    perform: performer({ db: memoryDb(), audit: () => {} }),
  })
  const app = answerErrors(new Elysia({ normalize: false }), () => {}).use(health)
  return Promise.resolve(app.handle(new Request(`http://localhost${path}`)))
}

test('/healthz reports that the process is running', async () => {
  const response = await ask('/healthz')
  expect([response.status, await response.json()]).toEqual([200, { ok: true }])
})

test('/readyz reports the ages of the last flush and evaluation', async () => {
  const response = await ask('/readyz', { damagedFiles: () => [] })
  expect([response.status, await response.json()]).toEqual([
    200,
    {
      ok: true,
      lastFlushAgeMs: null,
      lastEvaluationAgeMs: 1500,
      damagedFiles: [],
      failingMerges: 2,
      checks: [{ name: 'disk', ok: true, message: '3 GiB free' }],
    },
  ])
})

test('/readyz is ready despite damaged files, and names the first 100', async () => {
  const { ok, damagedFiles } = (await (await ask('/readyz')).json()) as { ok: boolean; damagedFiles: string[] }
  expect([ok, damagedFiles.length, damagedFiles[0]]).toEqual([true, 100, '0.parquet'])
})

test('/readyz returns 503 and names each failed check, including one that throws', async () => {
  const checks: ReadinessCheck[] = [
    { name: 'disk', check: () => ({ ok: false, message: 'the disk is full: 3 MiB free' }) },
    { ...GOOD, name: 'engine' },
    {
      name: 'spool',
      check() {
        throw new Error('/secret/path')
      },
    },
  ]
  const response = await ask('/readyz', { checks: () => checks })
  expect([response.status, response.headers.get('retry-after'), await response.json()]).toEqual([
    503,
    '10',
    { error: 'disk: the disk is full: 3 MiB free; spool: the check itself failed; see the server log' },
  ])
})

test('metrics are in Prometheus format', async () => {
  const response = await ask('/metrics', {
    metrics: async () => [
      { name: 'tagwarden_a_total', type: 'counter', help: 'Things.', value: 3 },
      { name: 'tagwarden_b_bytes', type: 'gauge', help: 'Bytes.', value: 1.5 },
    ],
  })
  // https://prometheus.io/docs/instrumenting/exposition_formats/
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4')
  expect(await response.text()).toBe(
    `# HELP tagwarden_a_total Things.
# TYPE tagwarden_a_total counter
tagwarden_a_total 3
# HELP tagwarden_b_bytes Bytes.
# TYPE tagwarden_b_bytes gauge
tagwarden_b_bytes 1.5
`,
  )
})
