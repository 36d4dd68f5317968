import { Text } from '@mantine/core'
import { type Role, useMay, useWho } from '../api/who.ts'
import { messages } from '../messages.ts'

/** Says to who may not change what is here, which role can; nothing to everybody else. `what` begins the sentence. */
export function MayLine({ needs, what }: { needs: Role; what: string }) {
  const who = useWho()
  const may = useMay(needs)
  if (who === undefined || may) return null
  return (
    <Text c="dimmed" mb="md">
      {who.readOnly ? messages.shell.readOnlyKey : messages.shell.needsRole(what, messages.api.roles[needs])}
    </Text>
  )
}
