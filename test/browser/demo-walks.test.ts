import { expect, test } from 'bun:test'
import { until } from '../process.ts'
import { startDemo } from '../web/demo.ts'
import { installedChromium } from './installed-chromium.ts'

const TEST_MS = 600_000
const WALKED_MS = 420_000

test(
  'where there is a browser, flow tests and an audit run after the start of the demo: one passes, one fails with a healed step',
  async () => {
    await using demo = await startDemo({ TAGWARDEN_CHROMIUM: await installedChromium() })
    const { get } = demo
    expect(demo.printed()).toContain('two flow tests and an audit of the shop run now')
    const audit = await until(
      'the audit',
      async () => {
        const { audits } = await get('/v1/audits')
        return audits.find(({ status }: { status: string }) => status !== 'queued' && status !== 'running') ?? null
      },
      WALKED_MS,
    )
    expect(audit).toMatchObject({ status: 'finished', summary: { pagesFailed: 1 } })
    expect(audit.summary.missing).toBeGreaterThan(0)

    const { tests } = await get('/v1/flows/tests')
    expect(tests.map(({ name, status }: Record<string, string>) => [name, status])).toEqual([
      ['Buy a blue shirt', 'passed'],
      ['Join the newsletter', 'failed'],
    ])
    const { runs } = await get('/v1/flows/runs')
    expect(runs.map(({ status }: { status: string }) => status).slice(0, 2)).toEqual(['failed', 'passed'])
    expect(tests[1].healing).toMatchObject([{ step: 2, runId: runs[0].id }])
    const run = await get(`/v1/flows/runs/${runs[0].id}`)
    expect(JSON.stringify(run)).toContain('sign_up')
  },
  TEST_MS,
)
