import { expect, test } from 'bun:test'
import { memoryDb, testBox, testClock } from '../../test/fixtures.ts'
import { PLAIN_PRIVACY } from '../conditions/privacy-settings.ts'
import { createOrg } from '../org/store.ts'
import { readAudit } from './audit-input.ts'
import { AuditRuns } from './audit-runs.ts'
import { cancelAudit, findAudit, queueAudit } from './store.ts'

test.each([false, true])("an audit that the server can't run fails (already started: %p)", async (begins) => {
  const db = memoryDb()
  const clock = testClock()
  const { id: orgId } = createOrg(db, testBox, clock, { name: 'Acme' })
  const settings = readAudit({ name: 'Shop', startUrls: ['https://shop.example/'] }, clock.now())
  const { id } = queueAudit(db, clock.now(), { orgId, settings, region: 'local' }).audit
  const reported: unknown[] = []
  const fault = new Error('no room for its folder')
  const audits = new AuditRuns({
    db,
    clock,
    privacyOf: () => PLAIN_PRIVACY,
    enqueue() {},
    report: (error) => void reported.push(error),
    browsers: {
      fault: () => null,
      async run({ onStart }) {
        if (begins) onStart()
        throw fault
      },
    },
  })
  audits.start()
  await audits.idle()
  expect(findAudit(db, { orgId, id }).audit).toMatchObject({
    status: 'failed',
    error: 'internal error; see the server log',
  })
  expect(reported).toEqual([fault])
  audits.start()
  await audits.idle()
  expect(reported).toHaveLength(1)
})

test.each([false, true])(
  'a cancelled audit ends and keeps the pages visited so far (already started: %p)',
  async (begins) => {
    const db = memoryDb()
    const clock = testClock()
    const { id: orgId } = createOrg(db, testBox, clock, { name: 'Acme' })
    const settings = readAudit({ name: 'Shop', startUrls: ['https://shop.example/'] }, clock.now())
    const { id } = queueAudit(db, clock.now(), { orgId, settings, region: 'local' }).audit
    const ended = Promise.withResolvers<void>()
    const audits = new AuditRuns({
      db,
      clock,
      privacyOf: () => PLAIN_PRIVACY,
      enqueue() {},
      report(error) {
        throw error
      },
      browsers: {
        fault: () => null,
        async run({ onStart, stopping }) {
          if (begins) onStart()
          stopping.addEventListener('abort', () => ended.resolve())
          await ended.promise
          return { error: 'it was stopped' }
        },
      },
    })
    audits.start()
    cancelAudit(db, { orgId, id }, clock.now())
    audits.stop(id)
    await audits.idle()
    expect(findAudit(db, { orgId, id }).audit).toMatchObject({
      status: 'cancelled',
      finishedAt: clock.now(),
      error: null,
    })
    expect(() => cancelAudit(db, { orgId, id }, clock.now())).toThrow('the audit has ended')
    expect(() => cancelAudit(db, { orgId: 'org_other', id }, clock.now())).toThrow('no such audit')
    audits.start()
    await audits.idle()
    expect(findAudit(db, { orgId, id }).audit.status).toBe('cancelled')
  },
)
