import type { Instant } from '../../../core/clock.ts'
import { jsonObject } from '../../../core/parse-json-object.ts'
import { oneLine } from '../../../core/text.ts'
import { type Outcome, outcomeOf, retryAfterMs, Unusable } from '../../delivery-outcome.ts'
import type { CallAnswer } from '../provider-context.ts'

/**
 * Meaning of a Slack error code for a delivery. `retry`: the error is temporary. `reauth`: the app or its token must be
 * fixed. `channel`: another channel must be chosen, or the app must be invited. `broken`: Slack does not accept this
 * message.
 * Sources: https://docs.slack.dev/reference/methods/chat.postMessage#errors,
 * https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks#handling_errors
 */
type Meaning = 'retry' | 'reauth' | 'channel' | 'broken'

const REAUTH = [
  'access_denied',
  'account_inactive',
  'app_missing_action_url',
  'ekm_access_denied',
  'enterprise_is_restricted',
  'invalid_auth',
  'missing_scope',
  'no_permission',
  'not_allowed_token_type',
  'not_authed',
  'team_access_not_granted',
  'team_not_found',
  'token_expired',
  'token_revoked',
  'two_factor_setup_required',
  // These incoming webhooks have to be created again.
  'action_prohibited',
  'invalid_token',
  'no_active_hooks',
  'no_service',
  'no_service_id',
  'no_team',
  'team_disabled',
]

const CHANNEL = [
  'as_user_not_supported',
  'cannot_post_to_channel',
  'channel_is_archived',
  'channel_not_found',
  'channel_type_not_supported',
  'is_archived',
  'is_inactive',
  'messages_tab_disabled',
  'not_in_channel',
  'posting_to_general_channel_denied',
  'restricted_action',
  'restricted_action_non_threadable_channel',
  'restricted_action_read_only_channel',
  'restricted_action_thread_only_channel',
  'user_not_found',
]

const BROKEN = [
  'attachment_payload_limit_exceeded',
  'deprecated_endpoint',
  'duplicate_message_not_found',
  'invalid_arg_name',
  'invalid_arguments',
  'invalid_array_arg',
  'invalid_attachments',
  'invalid_blocks',
  'invalid_blocks_format',
  'invalid_charset',
  'invalid_form_data',
  'invalid_json',
  'invalid_metadata_format',
  'invalid_metadata_schema',
  'invalid_payload',
  'invalid_post_type',
  'json_not_object',
  'markdown_text_conflict',
  'metadata_must_be_sent_from_app',
  'metadata_too_large',
  'method_deprecated',
  'method_not_supported_for_channel_type',
  'missing_post_type',
  'missing_text_or_fallback_or_attachments',
  'msg_blocks_too_long',
  'msg_too_long',
  'no_dual_broadcast_content_update',
  'no_text',
  'too_many_attachments',
  'too_many_contact_cards',
  'unknown_method',
  'invalid_channel_id',
  'accesslimited',
]

const RETRY = [
  'external_channel_migrating',
  'fatal_error',
  'internal_error',
  'message_limit_exceeded',
  'rate_limited',
  'ratelimited',
  'request_timeout',
  'rollup_error',
  'service_unavailable',
  'team_added_to_org',
  'team_access_temporarily_blocked',
  'org_login_required',
]

const MEANINGS: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
  ...REAUTH.map((code) => [code, 'reauth'] as const),
  ...CHANNEL.map((code) => [code, 'channel'] as const),
  ...BROKEN.map((code) => [code, 'broken'] as const),
  ...RETRY.map((code) => [code, 'retry'] as const),
])

/** Meaning of an error code. Unknown codes are retried because they may occur during an outage. */
export const meaningOf = (code: string): Meaning => MEANINGS.get(code) ?? 'retry'

/** True if the call may have taken effect despite the error. */
export const isUncertain = (code: string) => code === 'fatal_error' || code === 'internal_error' || !MEANINGS.has(code)

const HINTS = new Map([
  ['channel_not_found', 'the channel does not exist, or it is private and the app is not a member'],
  ['not_in_channel', 'invite the app to the channel: /invite @Tagwarden'],
  ['is_archived', 'the channel is archived'],
  ['channel_is_archived', 'the channel is archived'],
  ['missing_scope', 'the app lacks a scope: add it and reinstall the app'],
  ['invalid_auth', 'the token is not valid'],
  ['token_revoked', 'the token was revoked'],
  ['account_inactive', 'the app was removed from the workspace'],
  ['no_service', 'the webhook was removed or disabled'],
  ['action_prohibited', 'an administrator has restricted this action'],
])

/** An error response from Slack. */
export class Refused extends Error {
  override readonly name = 'Refused'
  constructor(
    readonly code: string,
    readonly retryAfterMs: number | null,
  ) {
    const hint = HINTS.get(code)
    super(`Slack rejected the call: ${code}${hint ? ` (${hint})` : ''}`)
  }
}

/** True if a string looks like a Slack error code. */
export const isCode = (text: string) => /^[a-z_]{2,80}$/.test(text)

/** The outcome of a bot's delivery that Slack rejected. */
export function outcomeOfRefusal({ code, message: reason, retryAfterMs }: Refused): Outcome {
  const meaning = meaningOf(code)
  if (meaning === 'retry') return { verdict: 'retry', reason, retryAfterMs }
  if (meaning === 'reauth') return { verdict: 'broken', reason, status: 'reauth_required' }
  return { verdict: 'broken', reason, ...(meaning === 'channel' ? { status: 'incomplete' as const } : {}) }
}

/**
 * The outcome of a post to an incoming webhook. The error code is in the response body. Channel problems do not make
 * the integration `incomplete`, because they are fixed in Slack, where the webhook was created.
 */
export function outcomeOfWebhook(answer: CallAnswer, now: Instant): Outcome {
  const code = codeIn(answer.body)
  const outcome = outcomeOf({ kind: 'http' }, { kind: 'status', ...answer }, now)
  if (outcome.verdict === 'delivered' || code === null || !MEANINGS.has(code)) return outcome
  const refused = new Refused(code, retryAfterMs(answer.headers['retry-after'], now))
  const meant = outcomeOfRefusal(refused)
  if (meant.verdict !== 'broken' || meant.status !== 'incomplete') return meant
  return { verdict: 'broken', reason: refused.message }
}

function codeIn(body: string): string | null {
  const text = oneLine(body, 100)
  if (isCode(text)) return text
  const error = jsonObject(body)?.error
  return typeof error === 'string' && isCode(error) ? error : null
}

/** Returns the error for a rejection that a user must fix. Null for other rejections. */
export function unusable(refused: Refused): Unusable | null {
  const outcome = outcomeOfRefusal(refused)
  if (outcome.verdict !== 'broken' || !outcome.status) return null
  return new Unusable(outcome.status as 'incomplete' | 'reauth_required', refused.message)
}
