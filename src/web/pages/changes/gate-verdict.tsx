import { Anchor, Group } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Change } from '#client/types.gen'
import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { formatNumber } from '../../components/format.ts'
import { StatusMark } from '../../components/status-mark.tsx'
import { DateTime } from '../../components/time-ago.tsx'
import { messages } from '../../messages.ts'
import { GATE_MARKS } from './status-marks.ts'

/** The result of the release gate for a change, with a link to its run. */
export function GateVerdict({ run: { id, status, problems, createdAt } }: { run: NonNullable<Change['gateRun']> }) {
  const t = messages.gate
  const detail = problems > 0 ? ` ${t.withProblems(formatNumber(problems, 0), problems === 1)}` : ''
  return (
    <Group gap="xs" fz="sm">
      <span>{t.ofChange}</span>
      <StatusMark status={GATE_MARKS[status]} word={`${t.verdicts[status]}${detail}`} />
      <DateTime at={createdAt} />
      <Anchor component={Link} to={PAGE_PATHS.changes['gate-run']} params={{ id } as never} fz="sm">
        {t.show}
      </Anchor>
    </Group>
  )
}
