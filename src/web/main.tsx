import '@mantine/core/styles.css'
import './theme/global.css'
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { bootstrap, type LinkParams, LinkParamsContext } from './api/bootstrap.ts'
import { configureClient } from './api/configure-client.ts'
import { prefetch, queries } from './api/queries.ts'
import { whoamiQuery } from './api/whoami.ts'
import { isolateArguments } from './bidi-isolation.ts'
import { english, messages, setMessages } from './messages.ts'
import { router } from './router.ts'
import { listenToKeys } from './shell/key-bindings.ts'
import { preferences } from './shell/preferences.ts'
import { cssVariables, theme } from './theme/theme.ts'

/** So long nothing is drawn while the page's script is on its way. */
const PATIENCE_MS = 300

void begin()

/** Nothing waits at the module's top: the bundler could not put what all pages share into its file. */
async function begin(): Promise<void> {
  const isPseudo = preferences.read().language === 'pseudo'
  setMessages(isolateArguments(isPseudo ? (await import('./pseudo-language.ts')).pseudo(english) : english))
  configureClient(() => messages.shell.unreachable)
  listenToKeys()
  const arrival = await bootstrap()
  prefetch(whoamiQuery())
  // What is there is drawn at once and not in turns; what takes longer is waited for by the page.
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
