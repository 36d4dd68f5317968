import { TEST_START } from '../../../../test/fixtures.ts'
import { MINUTE_MS, SECOND_MS } from '../../../core/clock.ts'
import { testKills } from '../../delivery/kill-table.fixture.ts'
import { type Expected, type Row, testOutcomes } from '../../delivery/outcome-table.fixture.ts'
import { slackChannel } from './slack.ts'
import { BOT_TOKEN, CHANNEL, slackServer, WEBHOOK_PATH } from './slack-server.fixture.ts'

/* Outcomes of Slack deliveries for every status, error code and failure, and for a crash at every step. */

const bot = { config: {}, secrets: { botToken: BOT_TOKEN } }
const state = { channelId: CHANNEL, teamId: null }
const operator = (url: string) => ({ TEAM_CHAT_URL: `${url}/api` })

const refusal = (error: string, init: ResponseInit = {}) => Response.json({ ok: false, error }, init)

const RETRY = [
  'fatal_error',
  'internal_error',
  'service_unavailable',
  'request_timeout',
  'rate_limited',
  'team_added_to_org',
]
const REAUTH = ['invalid_auth', 'not_authed', 'account_inactive', 'token_revoked', 'token_expired', 'missing_scope']
const CHANNELS = ['channel_not_found', 'not_in_channel', 'is_archived', 'restricted_action_read_only_channel']
const BROKEN = [
  'msg_too_long',
  'no_text',
  'too_many_attachments',
  'invalid_arguments',
  'invalid_json',
  'unknown_method',
]

const rowOf =
  (expected: Expected, init?: ResponseInit) =>
  (error: string): Row => ({ what: error, answer: () => refusal(error, init), reason: error, ...expected })

testOutcomes("Slack's bot", {
  channel: slackChannel,
  integration: () => bot,
  state,
  operator,
  success: () => Response.json({ ok: true, channel: CHANNEL, ts: '1.000001' }),
  answers: () => null,
  // Slack's responses contain `ok`, regardless of the status.
  expected: (status) =>
    [204, 205].includes(status) ? { verdict: 'retry', reason: 'the response is not from Slack' } : null,
  rows: [
    ...RETRY.map(rowOf({ verdict: 'retry' })),
    ...REAUTH.map(rowOf({ verdict: 'broken', status: 'reauth_required' })),
    ...CHANNELS.map(rowOf({ verdict: 'broken', status: 'incomplete' })),
    ...BROKEN.map(rowOf({ verdict: 'broken' })),
    rowOf({ verdict: 'retry' })('an_error_of_next_year'.replaceAll(/[^a-z_]/g, '')),
    {
      what: 'ratelimited',
      answer: () => refusal('ratelimited', { status: 429, headers: { 'retry-after': '30' } }),
      verdict: 'retry',
      waitMs: 30 * SECOND_MS,
      reason: 'ratelimited',
    },
    {
      what: 'ratelimited for several minutes, with status 200',
      answer: () => refusal('ratelimited', { headers: { 'retry-after': '180' } }),
      verdict: 'retry',
      waitMs: 3 * MINUTE_MS,
    },
    {
      what: 'an HTML page with status 200',
      answer: () => new Response('<html>busy</html>'),
      verdict: 'retry',
      reason: 'the response is not from Slack',
    },
    { what: 'a list', answer: () => Response.json([1]), verdict: 'retry' },
    { what: 'null', answer: () => Response.json(null), verdict: 'retry' },
    { what: 'an error that is not a string', answer: () => Response.json({ ok: false, error: 7 }), verdict: 'retry' },
    {
      what: 'an error that contains a secret',
      answer: () => refusal('xoxb-1-b0t-secret'),
      verdict: 'retry',
      reason: 'unknown_error',
    },
    { what: 'invalid blocks', answer: () => refusal('invalid_blocks'), verdict: 'broken' },
    { what: 'oversized blocks', answer: () => refusal('msg_blocks_too_long'), verdict: 'broken' },
    { what: 'oversized metadata', answer: () => refusal('metadata_too_large'), verdict: 'broken' },
  ],
})

const said = (text: string, status: number) => () => new Response(text, { status })

testOutcomes('an incoming webhook', {
  channel: slackChannel,
  integration: (url) => ({ config: {}, secrets: { webhookUrl: `${url}${WEBHOOK_PATH}` } }),
  success: () => new Response('ok'),
  rows: [
    { what: 'invalid_payload', answer: said('invalid_payload', 400), verdict: 'broken', reason: 'invalid_payload' },
    { what: 'no_text', answer: said('no_text', 400), verdict: 'broken', reason: 'no_text' },
    { what: 'invalid_blocks', answer: said('invalid_blocks', 400), verdict: 'broken', reason: 'invalid_blocks' },
    { what: 'user_not_found', answer: said('user_not_found', 400), verdict: 'broken', reason: 'user_not_found' },
    {
      what: 'action_prohibited',
      answer: said('action_prohibited', 403),
      verdict: 'broken',
      reason: 'action_prohibited',
      status: 'reauth_required',
    },
    {
      what: 'channel_not_found',
      answer: said('channel_not_found', 404),
      verdict: 'broken',
      reason: 'channel_not_found',
    },
    {
      what: 'no_service',
      answer: said('no_service', 404),
      verdict: 'broken',
      reason: 'no_service',
      status: 'reauth_required',
    },
    { what: 'no_team', answer: said('no_team', 404), verdict: 'broken', status: 'reauth_required' },
    { what: 'invalid_token', answer: said('invalid_token', 403), verdict: 'broken', status: 'reauth_required' },
    { what: 'channel_is_archived', answer: said('channel_is_archived', 410), verdict: 'broken', reason: 'archived' },
    { what: 'rollup_error', answer: said('rollup_error', 500), verdict: 'retry', reason: 'rollup_error' },
    {
      what: 'ratelimited',
      answer: () => refusal('ratelimited', { status: 429, headers: { 'retry-after': '30' } }),
      verdict: 'retry',
      waitMs: 30 * SECOND_MS,
      reason: 'ratelimited',
    },
    {
      what: 'an error from Mattermost',
      answer: () => Response.json({ id: 'web.incoming_webhook.invalid.app_error', status_code: 400 }, { status: 400 }),
      verdict: 'broken',
      reason: 'HTTP 400',
    },
  ],
})

/** Fixed time at which the test clocks start, so that searches find all later messages. */
const clock = { now: () => TEST_START + MINUTE_MS }

testKills("Slack's bot", {
  channel: slackChannel,
  type: 'team_chat',
  server: () => {
    const server = slackServer(clock)
    server.behaviour.isPaced = false
    return server
  },
  integration: () => bot,
  state,
  operator: ({ url }) => operator(url),
  once: ({ messages }) => messages.map(({ metadata }) => metadata?.event_payload.deliveryIds ?? ''),
})

testKills('an incoming webhook', {
  channel: slackChannel,
  type: 'team_chat',
  server: () => slackServer(clock),
  integration: ({ webhookUrl }) => ({ config: {}, secrets: { webhookUrl } }),
})
