import type { DeliveryContext, InboundContext, IntegrationContext, IssueContext, ListeningContext } from '../context.ts'
import type { ChatMemory } from './memory.ts'
import type { TeamChatSettings, TeamChatState } from './settings.ts'

type None = Record<never, never>

/** What this provider gets for whatever it does. */
export type Chat = IntegrationContext<TeamChatSettings, None, TeamChatState>
export type ChatDelivery = DeliveryContext<TeamChatSettings, ChatMemory, None, TeamChatState>
export type ChatIssue = IssueContext<TeamChatSettings, ChatMemory, None, TeamChatState>
export type Inbound = InboundContext<TeamChatSettings, ChatMemory, None, TeamChatState>
export type Listening = ListeningContext<TeamChatSettings, ChatMemory, None, TeamChatState>
