/** Names of the channel types that alerts can use, by their value in the API. */
export const CHANNEL_TITLES = {
  email: 'E-mail',
  team_chat: 'Slack',
  office_chat: 'Microsoft Teams',
  webhook: 'Webhook',
  issue_tracker: 'Jira',
} as const

export type ChannelType = keyof typeof CHANNEL_TITLES

/** Targets of each channel type, for the description of the API. */
export const CHANNEL_TARGETS: Record<ChannelType, string> = {
  email: "comma-separated e-mail addresses, or `owners` for the organization's owners",
  team_chat: 'the id of a Slack integration, or the URL of an incoming webhook',
  office_chat: 'the id of a Teams integration, or the URL of a workflow',
  issue_tracker:
    'the id of a Jira integration, optionally followed by a colon and the key of another project (`int_…:OPS`)',
  webhook: 'the id of a webhook integration, or an https URL',
}

/** Names of the products that an organization can connect, by their value in the API. */
export const PROVIDER_TITLES = {
  tag_manager: 'Google Tag Manager',
  team_chat: CHANNEL_TITLES.team_chat,
  office_chat: CHANNEL_TITLES.office_chat,
  issue_tracker: CHANNEL_TITLES.issue_tracker,
  webhook: CHANNEL_TITLES.webhook,
  email_digest: 'E-mail digest',
} as const

export type ProviderType = keyof typeof PROVIDER_TITLES

/** Settings of each provider, for the description of the API. */
export const PROVIDER_CONFIGS: Record<ProviderType, string> = {
  webhook: '{url, format?, secret?}',
  office_chat: '{webhookUrl} or {appId, appPassword, tenantId?}',
  team_chat: '{webhookUrl} or {botToken, appToken?}',
  issue_tracker: '{url, email?, apiToken, project, issueType?, fields?, pollSeconds?}',
  tag_manager: '{serviceAccount} or {clientId, clientSecret, refreshToken}',
  email_digest: '{to, hourUtc, context?}',
}

export const CHANNEL_TYPES = Object.keys(CHANNEL_TITLES) as ChannelType[]
export const PROVIDER_TYPES = Object.keys(PROVIDER_TITLES) as ProviderType[]
