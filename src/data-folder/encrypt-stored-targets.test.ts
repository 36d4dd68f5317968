import { expect, test } from 'bun:test'
import { unsealTarget } from '../alerts/encrypt-channel-target.ts'
import { outboxFixture } from '../integrations/delivery/outbox.fixture.ts'
import { sealStoredTargets } from './encrypt-stored-targets.ts'

test('a damaged row does not prevent startup, and a second startup changes nothing', () => {
  const { db, box, issue, tell, deliveries } = outboxFixture()
  const target = 'https://hooks.slack.com/services/T0/B0/secret'
  const channels = [
    { type: 'team_chat' as const, target },
    { type: 'email' as const, target: 'owners' },
  ]
  tell('opened', issue(), { channels })
  const damaged = `{"channel": {"target": "${target}`
  const insert = db.prepare('INSERT INTO issueHistory (issueId, kind, payload, createdAt) VALUES (?, ?, ?, 0)')
  insert.run('iss_1', 'notified', damaged)
  insert.run('iss_1', 'notified', JSON.stringify({ channel: channels[0] }))
  const payloads = () =>
    db.prepare<[], string>('SELECT payload FROM issueHistory WHERE createdAt = 0 ORDER BY seq').pluck().all()

  sealStoredTargets(db, box)
  const [first = '', second = ''] = payloads()
  expect(first).toBe(damaged)
  expect(unsealTarget(box, JSON.parse(second).channel.target)).toBe(target)
  const stored = deliveries()
  expect(JSON.stringify(stored)).not.toContain('secret')
  expect(stored.map(({ channelTarget }) => unsealTarget(box, channelTarget))).toEqual([target, 'owners'])

  sealStoredTargets(db, box)
  expect([payloads(), deliveries()]).toEqual([[first, second], stored])
})
