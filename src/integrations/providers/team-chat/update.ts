import { SECOND_MS } from '../../../core/clock.ts'
import { DELIVERED, type Outcome } from '../../reply.ts'
import type { StatusChange } from '../context.ts'
import { callMethod } from './api.ts'
import type { ChatIssue } from './contexts.ts'
import { pressedOf } from './deliver.ts'
import { meaningOf, outcomeOfRefusal, Refused } from './errors.ts'
import { type Rendered, renderGroup, renderOne } from './render.ts'

/** Shows in the opening how its issues stand now. Its answers stay as they are: they say what was. */
export async function updateOpening(context: ChatIssue, change: StatusChange): Promise<Outcome> {
  const opening = context.memory?.opening
  if (!opening || context.settings.webhookUrl !== undefined) return DELIVERED
  const { channel, ts } = opening
  try {
    await callMethod(context, 'chat.update', { channel, ts, ...renderedNow(context, change) })
    return DELIVERED
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    // Many issues may change together, and Slack takes some fifty edits a minute: that is nobody's failure.
    if (TOO_MANY.includes(error.code)) return { verdict: 'wait', waitMs: error.retryAfterMs ?? DEFAULT_WAIT_MS }
    const isElsewhere = channel !== context.state?.channelId && meaningOf(error.code) === 'channel'
    return NOT_THERE.includes(error.code) || isElsewhere ? DELIVERED : outcomeOfRefusal(error)
  }
}

function renderedNow(context: ChatIssue, { status, by, message, together }: StatusChange): Rendered {
  if (together.length > 1) return renderGroup(together, pressedOf(context, null))
  // A reopening was told in the thread: the opening itself stays the first one's.
  const opened = message.kind === 'reopened' ? { ...message, kind: 'opened' as const } : message
  return renderOne(opened, { status, by }, pressedOf(context, message.issue?.id ?? null))
}

const TOO_MANY = ['ratelimited', 'rate_limited']
const DEFAULT_WAIT_MS = 10 * SECOND_MS

/** The message was deleted, or can't be edited any more: there is nothing that could be shown. */
const NOT_THERE = ['message_not_found', 'cant_update_message', 'edit_window_closed', 'is_inactive', 'thread_not_found']
