import { Text } from '@mantine/core'
import type { Role } from '../../contract/roles.ts'
import { useHasRole, useWhoami } from '../api/whoami.ts'
import { messages } from '../messages.ts'

/** Notice for users without the required role. `what` starts the sentence, such as "Changing alerts". */
export function RoleNotice({ needs, what }: { needs: Role; what: string }) {
  const who = useWhoami()
  const may = useHasRole(needs)
  if (who === undefined || may) return null
  return (
    <Text c="dimmed" mb="md">
      {who.readOnly ? messages.shell.readOnlyKey : messages.shell.needsRole(what, messages.displayNames.roles[needs])}
    </Text>
  )
}
