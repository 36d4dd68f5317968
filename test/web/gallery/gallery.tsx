import '@mantine/core/styles.css'
import '../../../src/web/theme/global.css'
import { MantineProvider, Paper, Stack, Title } from '@mantine/core'
import {
  createMemoryHistory,
  createRootRoute,
  createRouter,
  type RouterHistory,
  RouterProvider,
} from '@tanstack/react-router'
import { useState } from 'react'
import { createRoot } from 'react-dom/client'
import { BandChart } from '../../../src/web/charts/band-chart.tsx'
import { BarChart } from '../../../src/web/charts/bar-chart.tsx'
import { Flow } from '../../../src/web/charts/session-paths-chart.tsx'
import { SHOW_PARAM } from '../../../src/web/charts/show-param.ts'
import { Sparkline } from '../../../src/web/charts/sparkline.tsx'
import { SeverityMark } from '../../../src/web/components/severity-mark.tsx'
import { StatusMark } from '../../../src/web/components/status-mark.tsx'
import { TimeAgo } from '../../../src/web/components/time-ago.tsx'
import { cssVariables, theme } from '../../../src/web/theme/theme.ts'
import { parseSearch, readSearch, writeSearch } from '../../../src/web/url-state/search-params.ts'
import { BARS, CHANGES, FLOWS, PARTIAL, SERIES } from './chart-data.ts'

// Shows all charts and marks on one page, for tests and visual inspection. `?scheme=dark` selects the dark theme.
const scheme = new URLSearchParams(location.search).get('scheme') === 'dark' ? 'dark' : 'light'

function Gallery() {
  const [chosen, choose] = useState<{ step: number; path: string } | null>(null)
  const [picked, pick] = useState('')
  const more = { changes: CHANGES, scope: 'shop.example', unit: 'events per hour' }
  return (
    <main style={{ padding: 16 }}>
      <Title order={1}>Charts</Title>
      <p role="status">{picked || (chosen ? `${chosen.step} ${chosen.path}` : '')}</p>
      <Stack>
        <Paper>
          <BandChart
            title="Volume against expectation"
            summary="Below the expected range since 08:00."
            points={SERIES}
            onPick={(start) => pick(`picked ${start}`)}
            {...more}
          />
        </Paper>
        <Paper>
          <BandChart
            title="Without an expected range"
            summary="Counts with a gap."
            points={PARTIAL}
            unit="events per hour"
          />
        </Paper>
        <Paper>
          <BandChart title="Nothing" summary="Nothing." points={[]} unit="events per hour" />
        </Paper>
        <Paper>
          <BarChart
            title="Occurrences"
            summary="Highest today."
            points={BARS}
            unit="per day"
            badWord="Fired"
            height={160}
          />
        </Paper>
        <Paper>
          <Flow
            title="Where sessions go"
            summary="From / most go to /list."
            flows={FLOWS}
            caption="100 sessions"
            chosen={chosen}
            choose={choose}
          />
        </Paper>
        <Paper>
          <Sparkline points={SERIES} label="Below the expected range" />
          {(['critical', 'high', 'medium', 'low'] as const).map((severity) => (
            <p key={severity}>
              <SeverityMark severity={severity} />
            </p>
          ))}
          {(['open', 'acknowledged', 'resolved', 'muted', 'learning', 'failed'] as const).map((status) => (
            <p key={status}>
              <StatusMark status={status} word={status} />
            </p>
          ))}
          <TimeAgo at={Date.now() - 38 * 60_000} />
        </Paper>
      </Stack>
    </main>
  )
}

const root = createRootRoute({
  validateSearch: (raw: Record<string, unknown>) => readSearch(SHOW_PARAM, raw).search,
  component: Gallery,
})
const router = createRouter({
  routeTree: root,
  history: createMemoryHistory({ initialEntries: ['/'] }) as RouterHistory,
  parseSearch,
  stringifySearch: writeSearch,
})

const container = document.getElementById('root')
if (container === null) throw new Error('the document has no #root')
createRoot(container).render(
  <MantineProvider theme={theme} cssVariablesResolver={cssVariables} forceColorScheme={scheme}>
    <RouterProvider router={router as never} />
  </MantineProvider>,
)
