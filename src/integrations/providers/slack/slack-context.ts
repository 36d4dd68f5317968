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

/** What this provider gets for whatever it does. */
export type SlackContext = IntegrationContext<SlackSettings, None, SlackState>
export type SlackDelivery = DeliveryContext<SlackSettings, SlackMemory, None, SlackState>
export type SlackIssue = IssueContext<SlackSettings, SlackMemory, None, SlackState>
export type SlackInbound = InboundContext<SlackSettings, SlackMemory, None, SlackState>
export type SlackListening = ListeningContext<SlackSettings, SlackMemory, None, SlackState>

/** Where a message stands: Slack names it by channel and time. */
export interface MessageRef {
  channel: string
  ts: string
}

/** What is remembered of an issue in a chat. */
export interface SlackMemory {
  /** The message that opened it, in whose thread the others are; null: there is none yet. */
  opening: MessageRef | null
  /** What is being posted: its answer may have been lost. Null: nothing. */
  posting: UncertainPost | null
  /** The delivery that was posted last. */
  postedId: string | null
}

/** A message that may have been posted. */
export interface UncertainPost {
  deliveryId: string
  /** The first delivery that it is about: by this it is found. */
  key: string
  channel: string
  /** The message in whose thread it is; null: it stands alone. */
  thread: string | null
  since: Instant
  /** How many issues it is about. */
  count: number
}

export const EMPTY_MEMORY: SlackMemory = { opening: null, posting: null, postedId: null }
