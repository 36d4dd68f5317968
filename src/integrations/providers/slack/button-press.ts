import { CallFailed } from '../../delivery-outcome.ts'
import { parsePress } from './message-buttons.ts'
import { callMethod, readMethod } from './slack-api.ts'
import type { SlackInbound, SlackListening } from './slack-context.ts'
import { Refused } from './slack-errors.ts'

/** A button press: https://docs.slack.dev/reference/interaction-payloads/block_actions-payload */
interface Payload {
  type?: unknown
  user?: { id?: unknown }
  channel?: { id?: unknown }
  container?: { message_ts?: unknown; channel_id?: unknown; thread_ts?: unknown }
  message?: { ts?: unknown }
  response_url?: unknown
  actions?: unknown
}

interface PressedAction {
  action_id?: unknown
  value?: unknown
  action_ts?: unknown
}

/** The user who pressed a button, with the message that contains the button. */
interface Presser {
  userId: string
  channel: string
  ts: string
  responseUrl: string | null
}

/** Maximum number of issues searched when looking for the issues in a message. */
const MAX_ISSUES = 5000

/**
 * Handles a button press on behalf of the member who pressed the button. Users without permission receive a private
 * reply.
 */
export async function handlePress(context: SlackListening, given: unknown): Promise<void> {
  const payload = (typeof given === 'object' && given !== null ? given : {}) as Payload
  const presser = presserOf(payload)
  if (payload.type !== 'block_actions' || !presser) return
  const actions = Array.isArray(payload.actions) ? payload.actions : []
  for (const { action_id, value, action_ts } of actions as PressedAction[]) {
    const press = parsePress(action_id, value)
    // Accept buttons of other integrations only if those integrations share this app's connection.
    const inbound = press && context.sharedWith(press.integrationId)
    if (!inbound) continue
    const key = `press ${presser.userId} ${presser.ts} ${String(value)} ${String(action_ts)}`
    if (inbound.isRepeat(key)) continue
    inbound.noteCall(key)
    await applyPress(inbound, presser, press)
  }
}

function presserOf({ user, channel, container, message, response_url }: Payload): Presser | null {
  const at = channel?.id ?? container?.channel_id
  const ts = container?.message_ts ?? message?.ts
  if (typeof user?.id !== 'string' || typeof at !== 'string' || typeof ts !== 'string') return null
  return { userId: user.id, channel: at, ts, responseUrl: typeof response_url === 'string' ? response_url : null }
}

type Press = NonNullable<ReturnType<typeof parsePress>>

async function applyPress(inbound: SlackInbound, presser: Presser, { status, issueId }: Press): Promise<void> {
  const email = await emailOf(inbound, presser)
  if (typeof email !== 'string') return replyPrivately(inbound, presser, email.fault)
  const member = inbound.editorOf(email)
  if (!member) return replyPrivately(inbound, presser, NOT_A_MEMBER)
  const ids = issueId === null ? issuesOf(inbound, presser) : [issueId]
  const results = ids.map((id) => inbound.setStatusAs(member.userId, id, status))
  if (results.some((result) => result?.changed)) return
  const [was] = results.flatMap((result) => result?.was ?? [])
  await replyPrivately(inbound, presser, was ? `No change: already ${was}.` : 'This issue no longer exists.')
}

const NOT_A_MEMBER =
  'No change: only members of the Tagwarden organization can do this. Your e-mail address must be the same in Slack and Tagwarden.'

/** Ids of the issues in a message. */
const issuesOf = (inbound: SlackInbound, { channel, ts }: Presser) =>
  inbound
    .issues(MAX_ISSUES)
    .filter(({ memory }) => memory.opening?.ts === ts && memory.opening.channel === channel)
    .map(({ issueId }) => issueId)

interface SlackUser {
  deleted?: unknown
  is_bot?: unknown
  is_stranger?: unknown
  is_email_confirmed?: unknown
  team_id?: unknown
  enterprise_user?: { enterprise_id?: unknown; teams?: unknown }
  profile?: { email?: unknown }
}

/**
 * Returns the e-mail address of a user in the app's own workspace. Addresses of users from other workspaces can't be
 * trusted.
 */
async function emailOf(inbound: SlackInbound, { userId }: Presser): Promise<string | { fault: string }> {
  try {
    const { user } = await readMethod(inbound, 'users.info', { user: userId })
    const known = (typeof user === 'object' && user !== null ? user : {}) as SlackUser
    const email = known.profile?.email
    if (isOwn(known, inbound.state?.teamId ?? null) && typeof email === 'string' && email !== '') return email
    return { fault: NOT_A_MEMBER }
  } catch (error) {
    if (error instanceof Refused) return { fault: `No change: Slack could not identify you. ${error.message}.` }
    if (error instanceof CallFailed)
      return { fault: 'No change: Slack could not be reached to identify you. Try again.' }
    throw error
  }
}

function isOwn(
  { deleted, is_bot, is_stranger, is_email_confirmed, team_id, enterprise_user }: SlackUser,
  teamId: string | null,
) {
  if (deleted === true || is_bot === true || is_stranger === true || is_email_confirmed === false) return false
  if (teamId === null || typeof team_id !== 'string' || team_id === teamId) return true
  return Array.isArray(enterprise_user?.teams) && enterprise_user.teams.includes(teamId)
}

/** Sends a private reply to the user who pressed the button. */
async function replyPrivately(
  inbound: SlackInbound,
  { channel, userId, responseUrl }: Presser,
  text: string,
): Promise<void> {
  try {
    await callMethod(inbound, 'chat.postEphemeral', { channel, user: userId, text })
  } catch (error) {
    if (!(error instanceof Refused) || responseUrl === null) throw error
    // The app can post to a channel without being a member of it, but then it can't post ephemeral messages.
    await inbound.callOk({
      method: 'POST',
      url: responseUrl,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ response_type: 'ephemeral', replace_original: false, text }),
    })
  }
}
