import type { Instant } from '../../../core/clock.ts'
import type {
  DeliveryContext,
  InboundContext,
  IntegrationContext,
  IssueContext,
  ListeningContext,
} from '../provider-context.ts'
import type { SlackSettings, SlackState } from './slack-config.ts'

type None = Record<never, never>

export type SlackContext = IntegrationContext<SlackSettings, None, SlackState>
export type SlackDelivery = DeliveryContext<SlackSettings, SlackMemory, None, SlackState>
export type SlackIssue = IssueContext<SlackSettings, SlackMemory, None, SlackState>
export type SlackInbound = InboundContext<SlackSettings, SlackMemory, None, SlackState>
export type SlackListening = ListeningContext<SlackSettings, SlackMemory, None, SlackState>

/** Reference to a posted message. Slack identifies a message by channel and timestamp. */
export interface MessageRef {
  channel: string
  ts: string
}

/** Stored memory of an issue. */
export interface SlackMemory {
  /** The message that opened the issue. Its thread contains the later messages. Null if no message was posted yet. */
  opening: MessageRef | null
  /** A post that was started but not confirmed. */
  posting: UncertainPost | null
  /** The most recently posted delivery. */
  postedId: string | null
}

/** A message that may have been posted although no response arrived. */
export interface UncertainPost {
  deliveryId: string
  /** Id of the first delivery in the message, which is used to find the message. */
  key: string
  channel: string
  /** Timestamp of the thread's first message. Null if the message is not in a thread. */
  thread: string | null
  since: Instant
  /** Number of issues in the message. */
  count: number
}

export const EMPTY_MEMORY: SlackMemory = { opening: null, posting: null, postedId: null }
