import { Text } from '@mantine/core'
import { type Role, useMay, useWho } from '../api/who.ts'
import { words } from '../words.ts'

/** For whom lacks the role: one line that says who can change things here. Nothing for everybody else. */
export function YouCanLook({ what, needs }: { what: string; needs: Role }) {
  const who = useWho()
  const may = useMay(needs)
  if (who === undefined || may) return null
  return (
    <Text c="dimmed" mb="md">
      {who.readOnly ? words.shell.readOnlyKey : words.shell.needsRole(what, words.api.roles[needs])}
    </Text>
  )
}
