import { Button } from '@mantine/core'
import { testIntegration } from '#client/sdk.gen'
import type { Integration } from '#client/types.gen'
import { mutate } from '../../api/mutate.ts'
import type { StatusIcon } from '../../components/status-mark.tsx'
import { messages } from '../../messages.ts'

/** The mark of each status. */
export const INTEGRATION_MARKS: Record<Integration['status'], StatusIcon> = {
  connected: 'resolved',
  failing: 'failed',
  incomplete: 'learning',
  reauth_required: 'failed',
  disabled: 'muted',
}

/** The product name of a provider; for an unknown provider, its name in the API. */
export function titleOf(provider: string): string {
  const known: Readonly<Record<string, string>> = messages.integrations.providers
  return known[provider] ?? provider
}

/** Sends a test message. Errors from the provider are shown verbatim. */
export function TestButton({ id, label }: { id: string; label: string }) {
  const test = () =>
    mutate({
      send: () => testIntegration({ path: { id } }),
      invalidates: ['listIntegrations', 'getIntegration', 'listDeliveries'],
      message: messages.integrations.tested,
    })
  return (
    <Button variant="default" aria-description={label} onClick={() => void test()}>
      {messages.integrations.test}
    </Button>
  )
}
