import { expect, test } from 'bun:test'
import { aRun, FINDINGS, storeRun } from '../../test/flows/finished-run.fixture.ts'
import { testApp } from '../../test/test-app.ts'
import { PLAIN_PRIVACY } from '../conditions/privacy-settings.ts'
import { applyRunFindings, type RunSubject } from '../issues/apply-run-findings.ts'
import { FLOW_TEST } from '../issues/issue-kinds.ts'

test('the evidence of a run issue contains the steps, screenshots and events of the run', async () => {
  await using world = await testApp()
  const { app, clock, owner } = world
  const facts = aRun()
  const id = storeRun(world, facts)
  const subject: RunSubject = {
    kind: FLOW_TEST,
    id: 'tst_1',
    orgId: owner.orgId,
    name: 'Checkout',
    domainId: null,
    severity: 'high',
    impactValue: null,
    channels: [],
  }
  const parts = { db: app.db, now: clock.now(), privacy: PLAIN_PRIVACY, enqueue: () => undefined }
  const run = { id, at: clock.now(), findings: FINDINGS, isWhole: true, hosts: ['shop.example'], events: facts.events }
  applyRunFindings(parts, subject, run)
  const { body: list } = await world.call('GET', '/v1/issues?alertType=flow_test')
  expect(list.issues).toHaveLength(2)
  const wrong = list.issues.find(({ title }: { title: string }) => title.includes('transaction_id'))
  const { status, body } = await world.call('GET', `/v1/issues/${wrong.id}/evidence`)
  expect({ status, body }).toMatchObject({
    status: 200,
    body: {
      alert: null,
      summary: expect.stringContaining('Checkout: Google Analytics 4 purchase in step 4'),
      grain: 'day',
      cause: { kind: 'tag' },
      run: {
        path: `/v1/flows/runs/${id}`,
        headline: expect.stringContaining('Purchase without its transaction id'),
        steps: expect.arrayContaining([
          {
            title: 'Click “Buy”',
            status: 'passed',
            error: null,
            screenshot: `/v1/flows/runs/${id}/steps/3/screenshot`,
          },
          { title: 'Click “Print”', status: 'failed', error: 'there is no such element', screenshot: null },
        ]),
      },
    },
  })
  expect(body.run.sent.map(({ event }: { event: string }) => event)).toEqual(['page_view', 'add_to_cart', 'purchase'])
  expect(JSON.stringify(body)).not.toContain('john@mail')
  app.db.exec('DELETE FROM flowTest')
  const { body: later } = await world.call('GET', `/v1/issues/${wrong.id}/evidence`)
  expect(later.run).toBeNull()
})
