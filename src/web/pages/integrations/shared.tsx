import { Button } from '@mantine/core'
import { testIntegration } from '#client/sdk.gen'
import type { Integration } from '#client/types.gen'
import { mutate } from '../../api/mutate.ts'
import { messages } from '../../messages.ts'
import type { Standing } from '../../parts/status-mark.tsx'

/** How an integration is marked. */
export const STANDING: Record<Integration['status'], Standing> = {
  ...{ connected: 'resolved', failing: 'failed', incomplete: 'learning', reauth_required: 'failed', disabled: 'muted' },
}

/** A provider in words; one that these words do not know is called as in the API. */
export function titleOf(provider: string): string {
  const known: Readonly<Record<string, string>> = messages.integrations.providers
  return known[provider] ?? provider
}

/** Sends a test. What the other side says against it is shown word for word. */
export function TestButton({ id, label }: { id: string; label: string }) {
  const test = () =>
    mutate({
      send: () => testIntegration({ path: { id }, throwOnError: true }),
      invalidates: [[{ _id: 'listIntegrations' }], [{ _id: 'getIntegration' }], [{ _id: 'listDeliveries' }]],
      message: messages.integrations.tested,
    })
  return (
    <Button variant="default" aria-description={label} onClick={() => void test()}>
      {messages.integrations.test}
    </Button>
  )
}
