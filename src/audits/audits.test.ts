import { expect, test } from 'bun:test'
import { memoryDb, testBox, testClock } from '../../test/fakes.ts'
import { PLAIN_PRIVACY } from '../conditions/privacy.ts'
import { createOrg } from '../org/store.ts'
import { Audits } from './audits.ts'
import { readAudit } from './input.ts'
import { findAudit, queueAudit } from './store.ts'

test.each([false, true])('an audit that the server can not carry out has failed, begun or not: %p', async (begins) => {
  const db = memoryDb()
  const clock = testClock()
  const { id: orgId } = createOrg(db, testBox, clock, { name: 'Acme' })
  const settings = readAudit({ name: 'Shop', startUrls: ['https://shop.example/'] }, clock.now())
  const { id } = queueAudit(db, clock.now(), { orgId, settings, region: 'local' }).audit
  const reported: unknown[] = []
  const fault = new Error('no room for its folder')
  const audits = new Audits({
    ...{ db, clock, privacyOf: () => PLAIN_PRIVACY, enqueue() {} },
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
    error: 'the server could not carry it out; its log says why',
  })
  expect(reported).toEqual([fault])
  audits.start()
  await audits.idle()
  expect(reported).toHaveLength(1)
})
