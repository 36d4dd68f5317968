import '@mantine/core/styles.css'
import './theme/global.css'
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { bootstrap, type LinkParams, LinkParamsContext } from './api/bootstrap.ts'
import { prefetch, queries } from './api/queries.ts'
import { whoamiQuery } from './api/whoami.ts'
import { isolateArguments } from './bidi-isolation.ts'
import { english, setMessages } from './messages.ts'
import { router } from './router.ts'
import { listenToKeys } from './state/key-bindings.ts'
import { preferences } from './state/preferences.ts'
import { cssVariables, theme } from './theme/theme.ts'

/** Maximum time to wait for the page's script before the first render. */
const PATIENCE_MS = 300

void begin()

/** A function, because with top-level `await` the bundler would not share this chunk. */
async function begin(): Promise<void> {
  const isPseudo = preferences.read().language === 'pseudo'
  setMessages(isolateArguments(isPseudo ? (await import('./pseudo-localization.ts')).pseudo(english) : english))
  listenToKeys()
  const arrival = await bootstrap()
  prefetch(whoamiQuery())
  // Avoids rendering in several steps. Pages that take longer show their loading state.
  await Promise.race([router.load(), new Promise((done) => setTimeout(done, PATIENCE_MS))])
  draw(arrival)
}

function draw(arrival: LinkParams): void {
  const place = document.getElementById('root')
  if (place === null) throw new Error('the document has no root')
  createRoot(place).render(
    <StrictMode>
      <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto">
        <QueryClientProvider client={queries}>
          <LinkParamsContext value={arrival}>
            <RouterProvider router={router} />
          </LinkParamsContext>
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  )
}
