import './app.css';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Provider } from 'urql';
import { keepFocus } from '../components/keep-focus.ts';
import { client } from '../graphql/client.ts';
import { router } from './router.tsx';
import { followSystemTheme } from './theme.ts';

const root = document.querySelector('#root');
if (root === null) throw new Error('The document has no element #root.');
followSystemTheme();
keepFocus();
createRoot(root).render(
  <StrictMode>
    <Provider value={client}>
      <RouterProvider router={router} />
    </Provider>
  </StrictMode>,
);
