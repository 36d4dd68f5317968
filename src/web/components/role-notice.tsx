import { Text } from '@mantine/core'
import { type Role, useHasRole, useWhoami } from '../api/whoami.ts'
import { messages } from '../messages.ts'

/** Says to who may not change what is here, which role can; nothing to everybody else. `what` begins the sentence. */
export function RoleNotice({ needs, what }: { needs: Role; what: string }) {
  const who = useWhoami()
  const may = useHasRole(needs)
  if (who === undefined || may) return null
  return (
    <Text c="dimmed" mb="md">
      {who.readOnly ? messages.shell.readOnlyKey : messages.shell.needsRole(what, messages.api.roles[needs])}
    </Text>
  )
}
