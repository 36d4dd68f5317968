import { testKills } from '../../delivery/kill-table.fixture.ts'
import { testOutcomes } from '../../delivery/outcome-table.fixture.ts'
import { room, roomServer } from './fictitious-chat.fixture.ts'

testOutcomes('a chat', {
  channel: room,
  target: (url) => `${url}/c`,
  success: () => Response.json({ ts: 'ts-1' }),
  expected: (status) => ([204, 205].includes(status) ? { verdict: 'broken', reason: 'could not be rendered' } : null),
  rows: [
    {
      what: 'a success response that cannot be parsed',
      answer: () => new Response('<html>'),
      verdict: 'broken',
      reason: 'could not be rendered',
    },
    {
      what: 'an error in plain text',
      answer: () => new Response('no_service', { status: 404 }),
      verdict: 'broken',
      reason: 'HTTP 404',
    },
  ],
})

testKills('a chat', {
  channel: room,
  type: 'team_chat',
  server: roomServer,
  target: (server) => `${server.url}/c`,
})
