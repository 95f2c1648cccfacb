import { connect, type PeerCertificate } from 'node:tls';

/** The certificate shown for a name, trusted or not. */
export function certificateAt(port: number, host: string): Promise<PeerCertificate> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, servername: host, rejectUnauthorized: false });
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      resolve(socket.getPeerCertificate());
      socket.destroy();
    });
  });
}
