import { expect, test } from 'bun:test'
import { createFlowTests, runFlowTests } from '../../src/commands/demo/run-sample-flow-tests.ts'
import { openShopWebsite } from '../../src/commands/demo/shop-website.ts'
import { SECOND_MS } from '../../src/core/clock.ts'
import { installedChromium } from '../browser/installed-chromium.ts'
import { until } from '../run-program.ts'
import { testApp } from '../test-app.ts'

/* Runs the demo's flow tests and audit in a real browser against the demo's own shop. */

test("the demo's flow tests pass, one fails after the release with a healed step, and the audit finds the untagged page", async () => {
  await using world = await testApp({ chromium: await installedChromium(), outboundAllow: '127.0.0.1' })
  const storefront = openShopWebsite()
  await using _ = { [Symbol.asyncDispose]: () => storefront.close() }
  const call = async (method: string, path: string, body?: unknown) => {
    // Runs are listed by start time.
    world.clock.advance(SECOND_MS)
    const answer = await world.call(method, path, body === undefined ? {} : { body: body as object })
    expect([path, answer.status < 300]).toEqual([path, true])
    return answer.body
  }
  const { id: domainId } = await call('POST', '/v1/domains', { name: 'shop.example' })
  const tests = await createFlowTests(call, storefront.origin, domainId)
  await runFlowTests(call, { storefront, domainId, tests }, new AbortController().signal)
  const audit = await until(
    'the end of the audit',
    async () => {
      const [{ id, status }] = (await call('GET', '/v1/audits')).audits
      return status === 'queued' || status === 'running' ? null : call('GET', `/v1/audits/${id}`)
    },
    300_000,
  )
  const { runs } = await call('GET', '/v1/flows/runs')
  const went = runs.toReversed().map(({ testId, status, summary }: Run) => ({ testId, status, ...summary }))
  const well = { stepsTotal: 2, stepsPassed: 2, healedSteps: 0, vendorsFired: 1, findings: 0 }
  expect(went).toEqual([
    { ...well, testId: tests.joining, status: 'passed' },
    { ...well, testId: tests.buying, status: 'passed', stepsTotal: 4, stepsPassed: 4, vendorsFired: 2 },
    { ...well, testId: tests.joining, status: 'failed', healedSteps: 1, findings: 1 },
  ])

  expect(audit).toMatchObject({ status: 'finished', summary: { pagesTotal: 5, pagesFailed: 1, missing: 1 } })
  const { origin } = storefront
  const pagesWith = (isSo: (page: AuditedPage) => boolean) =>
    audit.pages.filter(isSo).map(({ url }: AuditedPage) => url)
  expect(pagesWith(({ status }) => status !== 200)).toEqual([`${origin}/sale`])
  expect(pagesWith(({ missing }) => missing.length > 0)).toEqual([`${origin}/category/shirts`])

  const { issues } = await call('GET', '/v1/issues')
  expect(issues.map(({ title }: { title: string }) => title).sort()).toEqual([
    'Join the newsletter: Google Analytics 4 sign_up did not fire in step 2, Click #join',
    `The whole shop: Google Analytics 4 page_view did not fire on ${origin}/category/shirts`,
  ])
})

interface Run {
  testId: string
  status: string
  summary: object
}
interface AuditedPage {
  url: string
  status: number
  missing: object[]
}
