import type { IssueStatus } from '../../../issues/issue.ts'

/** A Block Kit block. */
export interface Block {
  type: string
  [field: string]: unknown
}

/** The target of a message's buttons. If `issueId` is null, the target is all issues in the message. */
export interface ButtonTarget {
  integrationId: string
  issueId: string | null
}

type Reached = Exclude<IssueStatus, 'open'>

const PREFIX = 'tagwarden_'

const BUTTONS: readonly { status: Reached; label: string; all: string; from: readonly IssueStatus[] }[] = [
  { status: 'acknowledged', label: 'Acknowledge', all: 'Acknowledge all', from: ['open'] },
  { status: 'resolved', label: 'Resolve', all: 'Resolve all', from: ['open', 'acknowledged', 'muted'] },
  { status: 'muted', label: 'Mute', all: 'Mute all', from: ['open', 'acknowledged'] },
]

const plainText = (text: string) => ({ type: 'plain_text', text, emoji: false })

/** Returns the buttons that would change at least one issue, given the issues' statuses. May be empty. */
export function buttonsFor(statuses: readonly IssueStatus[], { integrationId, issueId }: ButtonTarget): Block[] {
  const isOne = issueId !== null
  const elements = BUTTONS.filter(({ from }) => statuses.some((status) => from.includes(status))).map(
    ({ status, label, all }) => ({
      type: 'button',
      text: plainText(isOne ? label : all),
      action_id: PREFIX + status,
      value: isOne ? `${integrationId}:${issueId}` : integrationId,
      ...(isOne ? {} : { confirm: confirmation(all) }),
    }),
  )
  return elements.length === 0 ? [] : [{ type: 'actions', block_id: 'tagwarden', elements }]
}

const confirmation = (all: string) => ({
  title: plainText(all),
  text: plainText('This applies to every issue in this message.'),
  confirm: plainText(all),
  deny: plainText('Cancel'),
})

/** Parses a button press. Null if Tagwarden did not create the button. */
export function parsePress(actionId: unknown, value: unknown): (ButtonTarget & { status: Reached }) | null {
  const button = BUTTONS.find(({ status }) => actionId === PREFIX + status)
  const [integrationId, issueId = null, more] = typeof value === 'string' ? value.split(':') : []
  if (!button || !integrationId || more !== undefined) return null
  return { status: button.status, integrationId, issueId }
}
