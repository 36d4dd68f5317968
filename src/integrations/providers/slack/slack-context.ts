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

/** A posted message, which Slack identifies by channel and timestamp. */
export interface MessageRef {
  channel: string
  ts: string
}

/** Stored memory of an issue. */
export interface SlackMemory {
  /** The message that opened the issue and whose thread holds the later ones; null: none was posted yet. */
  opening: MessageRef | null
  /** A post that was started and not confirmed. */
  posting: UncertainPost | null
  /** The most recently posted delivery. */
  postedId: string | null
}

/** A message that may have been posted although no response arrived. */
export interface UncertainPost {
  deliveryId: string
  /** The first delivery of the message, by which it is found. */
  key: string
  channel: string
  /** Timestamp of the thread's first message; null: not in a thread. */
  thread: string | null
  since: Instant
  /** Number of issues in the message. */
  count: number
}

export const EMPTY_MEMORY: SlackMemory = { opening: null, posting: null, postedId: null }
